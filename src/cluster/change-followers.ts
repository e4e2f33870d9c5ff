/**
 * The parts of this process that hold what others may have changed, and how each hears of it. Knows
 * no store and no resource's content.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountId } from '../core/ids.ts'
import { type FollowedResource, RESOURCE_ENTRIES } from '../core/resource-table.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import type { NamedThing } from '../store/database/find-some.ts'

export interface Follower {
  /**
   * Takes over what the store holds of some things: new, changed or gone. A failure leaves all as
   * it is.
   */
  follow(things: readonly NamedThing[]): Promise<void>
  /**
   * The same for all there are.
   * @param isOlder the store has been set back: what is missing need not have been deleted
   */
  followAll(isOlder?: boolean): Promise<void>
}

export type Followers = Readonly<Record<FollowedResource, Follower>> & {
  readonly key: { forget(accountId: AccountId, keyId: string): void }
}

/** They decide neither who may call nor whom a call goes to. */
const INERT: ReadonlySet<string> = new Set(
  RESOURCE_ENTRIES.flatMap(([word, { follow }]) => (follow?.decidesCalls === false ? [word] : [])),
)

/** One statement reads this many, and one turn of the event loop takes them over. */
const THINGS_PER_STEP = 100
/** Told apart by their names: less than a millisecond of the event loop. */
const CHANGES_PER_TURN = 1_000

export class ChangeFollowers {
  readonly #followers: Followers

  constructor(followers: Followers) {
    this.#followers = followers
  }

  /**
   * Resolves when this process works with what the store held when it was called, or something
   * newer.
   */
  async follow(changes: readonly FollowedChange[]): Promise<void> {
    const changed = new Map<string, Map<string, NamedThing>>()
    for (const [index, { resourceType, accountId, resourceId: id }] of changes.entries()) {
      if (index > 0 && index % CHANGES_PER_TURN === 0) await nextTurn()
      const things = changed.get(resourceType) ?? new Map<string, NamedThing>()
      things.set(`${accountId} ${id}`, { accountId, id })
      changed.set(resourceType, things)
    }
    for (const [resourceType, byName] of changed) {
      const things = [...byName.values()]
      for (let start = 0; start < things.length; start += THINGS_PER_STEP)
        await this.#of(resourceType)?.follow(things.slice(start, start + THINGS_PER_STEP))
    }
  }

  async followAll(isOlder = false): Promise<void> {
    for (const follower of Object.values<Follower>(this.#followers))
      await follower.followAll(isOlder)
  }

  /**
   * Follows a change as far as that can be done without the store.
   * @returns false when this process holds something now that is not so any more, or lacks what is
   * there
   */
  followBlindly({ resourceType, operation, accountId, resourceId }: FollowedChange): boolean {
    if (resourceType === 'key' && operation === 'delete') {
      this.#followers.key.forget(accountId, resourceId)
      return true
    }
    return INERT.has(resourceType)
  }

  #of(resourceType: string): Follower | undefined {
    // A newer version may follow what this one does not hold.
    return Object.hasOwn(this.#followers, resourceType)
      ? this.#followers[resourceType as FollowedResource]
      : undefined
  }
}

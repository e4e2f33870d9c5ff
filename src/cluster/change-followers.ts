import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountId } from '../core/ids.ts'
import { type FollowedResource, RESOURCE_ENTRIES } from '../core/resource-table.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import { RELOAD } from '../store/changes/publish-reload.ts'
import type { NamedThing } from '../store/database/find-some.ts'

export interface Follower {
  follow(things: readonly NamedThing[]): Promise<void>
  /**
   * Applies the stored state of all resources.
   * @param isOlder whether the store was restored from a backup, so that a missing resource need
   * not have been deleted
   */
  followAll(isOlder?: boolean): Promise<void>
}

export type Followers = Readonly<Record<FollowedResource, Follower>> & {
  readonly key: { forget(accountId: AccountId, keyId: string): void }
  /** Every node reads its own configuration file. */
  readonly [RELOAD]: Follower
}

const INERT: ReadonlySet<string> = new Set([
  RELOAD,
  ...RESOURCE_ENTRIES.flatMap(([word, { follow }]) =>
    follow?.decidesCalls === false ? [word] : [],
  ),
])

/** Read by one statement, and applied in one step of the event loop. */
const THINGS_PER_STEP = 100
const CHANGES_PER_TURN = 1_000

export class ChangeFollowers {
  readonly #followers: Followers

  constructor(followers: Followers) {
    this.#followers = followers
  }

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
   * Applies a change as far as possible without the store.
   * @returns false when this process now holds outdated data, or lacks a resource
   */
  followBlindly({ resourceType, operation, accountId, resourceId }: FollowedChange): boolean {
    if (resourceType === 'key' && operation === 'delete') {
      this.#followers.key.forget(accountId, resourceId)
      return true
    }
    return INERT.has(resourceType)
  }

  #of(resourceType: string): Follower | undefined {
    // A newer version may follow resource types that this version does not hold.
    return Object.hasOwn(this.#followers, resourceType)
      ? this.#followers[resourceType as keyof Followers]
      : undefined
  }
}

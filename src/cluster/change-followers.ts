import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountId } from '../core/ids.ts'
import { type FollowedResource, RESOURCE_ENTRIES } from '../core/resource-table.ts'
import type { EndedCalls } from '../gateway/end-revoked-calls.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import { COSTS, RELOAD } from '../store/changes/publish-change.ts'
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
  /** Every node has counters of usage, which read the corrected sums. */
  readonly [COSTS]: Follower
  readonly stop: {
    followBlindly(accountId: AccountId, id: string): void
    forget(accountId: AccountId, id: string): void
  }
}

const INERT: ReadonlySet<string> = new Set([
  RELOAD,
  COSTS,
  ...RESOURCE_ENTRIES.flatMap(([word, { follow }]) =>
    follow?.decidesCalls === false ? [word] : [],
  ),
])

/** Number of resources read by one statement and applied in one step of the event loop. */
const THINGS_PER_STEP = 100
const CHANGES_PER_TURN = 1_000

export class ChangeFollowers {
  readonly #followers: Followers
  readonly #endRevokedCalls: () => readonly EndedCalls[]

  /** @param endRevokedCalls ends the running calls that must end by what the followers hold */
  constructor(followers: Followers, endRevokedCalls: () => readonly EndedCalls[]) {
    this.#followers = followers
    this.#endRevokedCalls = endRevokedCalls
  }

  /** Resolves once the changes are in use and the calls that they revoke have ended. */
  async follow(changes: readonly FollowedChange[]): Promise<readonly EndedCalls[]> {
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
    return changed.has('key') || changed.has('stop') ? this.#endRevokedCalls() : []
  }

  async followAll(isOlder = false): Promise<readonly EndedCalls[]> {
    for (const follower of Object.values<Follower>(this.#followers))
      await follower.followAll(isOlder)
    return this.#endRevokedCalls()
  }

  /**
   * Applies a change as far as possible without the store.
   * @returns false when this process now holds outdated data, or lacks a resource
   */
  followBlindly({ resourceType, operation, accountId, resourceId }: FollowedChange): boolean {
    const { key, stop } = this.#followers
    if (resourceType === 'key' && operation === 'delete') key.forget(accountId, resourceId)
    else if (resourceType === 'stop' && operation === 'delete') stop.forget(accountId, resourceId)
    else if (resourceType === 'stop') stop.followBlindly(accountId, resourceId)
    else return INERT.has(resourceType)
    this.#endRevokedCalls()
    return true
  }

  #of(resourceType: string): Follower | undefined {
    // A newer version may follow resource types that this version does not hold.
    return Object.hasOwn(this.#followers, resourceType)
      ? this.#followers[resourceType as keyof Followers]
      : undefined
  }
}

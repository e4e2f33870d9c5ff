/**
 * The stops of members and access tokens, and those by fuses, that this node holds in memory. Follows
 * the changes of other nodes.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ChangeActor } from '../core/audit.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { FuseOwner } from '../core/fuse.ts'
import type { AccountId } from '../core/ids.ts'
import { fusedStopIds, type Stop } from '../core/stop.ts'
import type { StopStore } from '../gateway/ports.ts'
import { currentActor } from '../store/changes/change-origin.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { StopTableStore } from '../store/resources/stops.ts'
import { newestFirst, Snapshot } from './snapshot.ts'

export interface StopRegistryOptions {
  readonly stops: Pick<StopTableStore, 'loadAll' | 'findSome' | 'insert' | 'delete'>
  /** Called in the same turn of the event loop in which a stop begins, changes or ends here. */
  readonly onChanged: (accountId: AccountId, id: string) => void
  readonly clock?: Clock
}

export class StopRegistry extends Snapshot<Stop> implements StopStore {
  readonly #options: StopRegistryOptions
  readonly #clock: Clock

  private constructor(options: StopRegistryOptions) {
    super(options.stops)
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: StopRegistryOptions): Promise<StopRegistry> {
    const registry = new StopRegistry(options)
    await registry.followAll()
    return registry
  }

  find(accountId: AccountId, id: string): Stop | undefined {
    return this.held(accountId, id)
  }

  /** The stops by the owner's fuse, or by all fuses of the account, newest first. */
  listFused(accountId: AccountId, owner?: FuseOwner): readonly Stop[] {
    const start = fusedStopIds(accountId, owner)
    const all = this.heldBy(accountId).filter(({ id }) => id.startsWith(start))
    return newestFirst(all, ({ id }) => id)
  }

  /** Forgets the stops that were deleted with the owner's fuse, or with hashes of the account. */
  followFused(accountId: AccountId, owner?: FuseOwner): Promise<void> {
    return this.follow(this.listFused(accountId, owner))
  }

  /**
   * Once this resolves, new calls are refused here.
   * @returns undefined when the account has no such member, token or fuse, or the member is its
   * owner
   */
  stop(
    { accountId, id }: NamedThing,
    reason: string | null,
    createdBy = currentActor(),
  ): Promise<Stop | undefined> {
    return this.inTurn(async () => {
      const createdAt = this.#clock.now()
      const stop = { accountId, id, reason, createdAt, createdBy }
      const stored = await this.#options.stops.insert(stop)
      if (stored !== undefined) this.adopt(stored)
      return stored
    })
  }

  /** @param actor default: the author of the request */
  lift(name: NamedThing, actor?: ChangeActor): Promise<void> {
    return this.inTurn(async () => {
      await this.#options.stops.delete(name, actor)
      this.forget(name.accountId, name.id)
    })
  }

  /**
   * A store restored from a backup may lack a stop, which lasts until it is lifted.
   * @param isOlder the store was restored from a backup
   */
  override followAll(isOlder = false): Promise<void> {
    if (!isOlder) return super.followAll()
    return this.inTurn(async () => {
      for (const stop of await this.#options.stops.loadAll()) this.adopt(stop)
    })
  }

  /** Adopts a stop that another node has made and that cannot be read at the moment. */
  followBlindly(accountId: AccountId, id: string): void {
    if (this.find(accountId, id) !== undefined) return
    this.adopt({ accountId, id, reason: null, createdAt: this.#clock.now(), createdBy: null })
  }

  override forget(accountId: AccountId, id: string): void {
    if (this.find(accountId, id) === undefined) return
    super.forget(accountId, id)
    this.#options.onChanged(accountId, id)
  }

  protected nameOf(stop: Stop): NamedThing {
    return stop
  }

  protected adopt(stop: Stop): void {
    // An unchanged stop is ignored, because each change examines every token of the account.
    if (isDeepStrictEqual(this.find(stop.accountId, stop.id), stop)) return
    this.hold(stop, stop)
    this.#options.onChanged(stop.accountId, stop.id)
  }
}

import type { AccountId } from '../core/ids.ts'
import { type HourlyOptions, HourlyWork } from '../core/passes.ts'
import type { RetentionHorizon } from '../core/retention-horizon.ts'
import type { Store } from '../store/open-store.ts'

const ROWS_PER_BATCH = 200
const PAUSE_MS = 10

export interface RetentionOptions extends HourlyOptions {
  readonly horizon: Pick<RetentionHorizon, 'cut'>
  readonly hoursHorizon: Pick<RetentionHorizon, 'cut'>
  readonly usersHorizon: Pick<RetentionHorizon, 'cut'>
  readonly store: {
    readonly calls: Pick<Store['calls'], 'findBounds' | 'deleteBefore'>
    readonly usage: Pick<
      Store['usage'],
      | 'findHourBounds'
      | 'deleteHoursBefore'
      | 'deleteRefusedBefore'
      | 'noteCallsDeletedBefore'
      | 'deleteSessionsBefore'
      | 'findUserDayBounds'
      | 'deleteUserDaysBefore'
      | 'deleteUserNamesBefore'
    >
    readonly endUsers: Pick<Store['endUsers'], 'finishErasures' | 'forgetErasuresBefore'>
    readonly budgetBeginnings: Pick<Store['budgetBeginnings'], 'keep'>
    readonly giveBackSpace: Store['giveBackSpace']
  }
  readonly ship: () => Promise<void>
  readonly pauseMs?: number
}

export class Retention extends HourlyWork {
  readonly #options: RetentionOptions

  constructor(options: RetentionOptions) {
    super(options)
    this.#options = options
  }

  override async run(): Promise<number> {
    // Segments are shipped first, because a segment that is shipped after its calls were deleted
    // would count twice.
    await this.#options.ship()
    const { store, horizon, pauseMs } = this.#options
    await store.endUsers.finishErasures(this.signal)
    const bounds = await store.calls.findBounds()
    const before = bounds && horizon.cut(bounds)
    const deleted = before === undefined ? 0 : await this.#deleteBefore(before)
    const { signal } = this
    const paced = { signal, pauseMs: pauseMs ?? PAUSE_MS }
    // Counts of refused calls, and sessions, are retained as long as calls.
    if (before !== undefined && !signal.aborted) {
      await store.usage.deleteRefusedBefore(before, paced)
      await store.usage.deleteSessionsBefore(before, paced)
    }
    const deletedBefore = bounds === undefined ? Number.POSITIVE_INFINITY : before
    await this.#deleteHours(deletedBefore, paced)
    await this.#deleteUserDays(paced)
    if (!signal.aborted) await store.giveBackSpace(paced)
    return deleted
  }

  async #deleteHours(
    deletedBefore: number | undefined,
    paced: { readonly signal: AbortSignal; readonly pauseMs: number },
  ): Promise<void> {
    const { hoursHorizon, store } = this.#options
    if (paced.signal.aborted) return
    const bounds = await store.usage.findHourBounds(paced)
    const before = bounds && hoursHorizon.cut(bounds)
    if (before === undefined || deletedBefore === undefined) return
    await store.usage.deleteHoursBefore(Math.min(before, deletedBefore), paced)
  }

  async #deleteUserDays(paced: {
    readonly signal: AbortSignal
    readonly pauseMs: number
  }): Promise<void> {
    const { usersHorizon, store } = this.#options
    if (paced.signal.aborted) return
    const bounds = await store.usage.findUserDayBounds(paced)
    const before = bounds && usersHorizon.cut(bounds)
    if (before === undefined) return
    await store.usage.deleteUserDaysBefore(before, paced)
    if (paced.signal.aborted) return
    await store.usage.deleteUserNamesBefore(before, paced)
    await store.endUsers.forgetErasuresBefore(before)
  }

  async #deleteBefore(before: number): Promise<number> {
    const { store, pauseMs } = this.#options
    await store.budgetBeginnings.keep(before)
    await store.usage.noteCallsDeletedBefore(before)
    let deleted = 0
    let place: AccountId | undefined
    do {
      const step = await store.calls.deleteBefore(before, ROWS_PER_BATCH, place)
      deleted += step.deleted
      place = step.next
      if (place === undefined || this.signal.aborted) break
      await Bun.sleep(pauseMs ?? PAUSE_MS)
    } while (!this.signal.aborted)
    return deleted
  }
}

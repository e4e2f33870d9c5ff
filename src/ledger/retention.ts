/**
 * Deletes calls and sums by the hour that are older than they may become, once an hour and a little
 * at a time. Must not know SQL; never waited for by a call.
 */
import type { AccountId } from '../core/ids.ts'
import { type HourlyOptions, HourlyWork } from '../core/passes.ts'
import type { RetentionHorizon } from '../core/retention-horizon.ts'
import type { Store } from '../store/open-store.ts'

/** The store gives others their turn in between. */
const ROWS_PER_BATCH = 200
const PAUSE_MS = 10

export interface RetentionOptions extends HourlyOptions {
  /** How far a pass may go. */
  readonly horizon: Pick<RetentionHorizon, 'cut'>
  /** Likewise for usage by the hour. */
  readonly hoursHorizon: Pick<RetentionHorizon, 'cut'>
  readonly store: {
    readonly calls: Pick<Store['calls'], 'findBounds' | 'deleteBefore'>
    readonly usage: Pick<
      Store['usage'],
      'findHourBounds' | 'deleteHoursBefore' | 'deleteRefusedBefore'
    >
    readonly budgetBeginnings: Pick<Store['budgetBeginnings'], 'keep'>
    readonly giveBackSpace: Store['giveBackSpace']
  }
  /** Brings everything that is journalled into the store. */
  readonly ship: () => Promise<void>
  /** Between batches. Default 10. */
  readonly pauseMs?: number
}

export class Retention extends HourlyWork {
  readonly #options: RetentionOptions

  constructor(options: RetentionOptions) {
    super(options)
    this.#options = options
  }

  /** One pass. @returns how many calls were deleted @throws what the store threw */
  override async run(): Promise<number> {
    // A segment that is shipped again after its calls were deleted would be counted twice: nothing
    // old may be waiting.
    await this.#options.ship()
    const { store, horizon, pauseMs } = this.#options
    const bounds = await store.calls.findBounds()
    const before = bounds && horizon.cut(bounds)
    const deleted = before === undefined ? 0 : await this.#deleteBefore(before)
    const { signal } = this
    const paced = { signal, pauseMs: pauseMs ?? PAUSE_MS }
    // Counts of refused calls live as long as the rows of calls.
    if (before !== undefined && !signal.aborted)
      await store.usage.deleteRefusedBefore(before, paced)
    // Hours of calls that are kept are kept as well: a budget's first hour is counted from the calls.
    const deletedBefore = bounds === undefined ? Number.POSITIVE_INFINITY : before
    await this.#deleteHours(deletedBefore, paced)
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

  async #deleteBefore(before: number): Promise<number> {
    const { store, pauseMs } = this.#options
    await store.budgetBeginnings.keep(before)
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

/**
 * Before which moment a log's rows may be deleted, so that a clock that jumped deletes none of
 * them. Must not know what the rows are, nor how they are deleted.
 */
import type { Clock, Stopwatch } from './clock.ts'

/** Milliseconds since the Unix epoch. */
export interface KeptRows {
  readonly oldestMs: number
  readonly newestMs: number
}

/** Rows that were kept for longer than they should have been. */
export interface Overdue {
  readonly rows: KeptRows
  readonly dueBeforeMs: number
  /**
   * `announced`: nothing is deleted for so long. `begun`: a day's worth of them goes now, and with
   * each pass.
   */
  readonly stage: 'announced' | 'begun'
  readonly waitMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** So much falls due between two passes, one of which may have failed. */
const USUAL_MS = 2 * HOUR_MS
/** A day without calls, or a process that did not run for a while, is nothing to report. */
const UNREMARKABLE_MS = DAY_MS
/**
 * Time that passed on a scale that does not jump. A process that is started anew each day gets
 * there too.
 */
const WAIT_MS = 6 * HOUR_MS
const STEP_MS = DAY_MS

export interface RetentionHorizonOptions {
  readonly keptMs: number
  readonly clock: Clock & Stopwatch
  /** Called before far more than usual is deleted. */
  readonly onOverdue: (overdue: Overdue) => void
}

export class RetentionHorizon {
  readonly #options: RetentionHorizonOptions
  /**
   * Since when, on the scale of `elapsed`, more is due than can have become so; undefined: it is
   * not.
   */
  #overdueSince: number | undefined
  #told: Overdue['stage'] | undefined

  constructor(options: RetentionHorizonOptions) {
    this.#options = options
  }

  /**
   * For one pass, an hour after the last one. A row's age counts back from the newest row, or from
   * now where that row is ahead of now. More than became due since the last pass waits, and goes a
   * day's worth at a time.
   * @returns the moment; undefined: nothing may be deleted in this pass
   */
  cut(rows: KeptRows): number | undefined {
    const { keptMs, clock } = this.#options
    const dueBeforeMs = Math.min(clock.now(), rows.newestMs) - keptMs
    const overdueMs = dueBeforeMs - rows.oldestMs
    if (overdueMs <= USUAL_MS) {
      this.#overdueSince = undefined
      this.#told = undefined
      return dueBeforeMs
    }
    const nowElapsed = clock.elapsed()
    this.#overdueSince ??= nowElapsed
    const stage = nowElapsed - this.#overdueSince >= WAIT_MS ? 'begun' : 'announced'
    if (overdueMs > UNREMARKABLE_MS && this.#told !== stage) {
      this.#told = stage
      this.#options.onOverdue({ rows, dueBeforeMs, stage, waitMs: WAIT_MS })
    }
    return stage === 'announced' ? undefined : Math.min(dueBeforeMs, rows.oldestMs + STEP_MS)
  }
}

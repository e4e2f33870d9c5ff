/**
 * Computes before which time a log's rows may be deleted, so a clock that jumps deletes no rows.
 */
import type { Clock, Stopwatch } from './clock.ts'

/** Milliseconds since the Unix epoch. */
export interface KeptRows {
  readonly oldestMs: number
  readonly newestMs: number
}

export interface Overdue {
  readonly rows: KeptRows
  readonly dueBeforeMs: number
  /** `announced`: nothing is deleted for a while. `begun`: each pass deletes a day's worth. */
  readonly stage: 'announced' | 'begun'
  readonly waitMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Rows that are overdue by at most this time are normal, even if one pass fails. */
const USUAL_MS = 2 * HOUR_MS
/** A day without calls, or a short downtime, is not worth a report. */
const UNREMARKABLE_MS = DAY_MS
/**
 * Delay before overdue rows are deleted, on a monotonic scale. The delay is short enough for a
 * process that restarts every day.
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
  #overdueSince: number | undefined
  #told: Overdue['stage'] | undefined

  constructor(options: RetentionHorizonOptions) {
    this.#options = options
  }

  /**
   * A row's age counts from the newest row, or from now if that row is in the future. A larger
   * amount than usual is delayed, and then deleted a day's worth at a time.
   * @returns the time; undefined: nothing may be deleted in this pass
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

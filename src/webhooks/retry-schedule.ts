/** When a delivery that failed is tried again. */

/** 10 s, 35 s, 2 min, 7 min, 25 min, 1.5 h, 5 h, 18 h: a day in all. */
const RETRIES = 8
const FIRST_RETRY_MS = 10_000
const FACTOR = 3.5
/** Receivers that were down together do not come under fire together. */
const JITTER = 0.2

export interface RetrySchedule {
  /** Milliseconds to wait after so many failed attempts; undefined: give up. */
  delayMs(failedAttempts: number): number | undefined
}

export function createRetrySchedule(
  options: { readonly firstRetryMs?: number; readonly random?: () => number } = {},
): RetrySchedule {
  const { firstRetryMs = FIRST_RETRY_MS, random = Math.random } = options
  return {
    delayMs(failedAttempts) {
      if (failedAttempts > RETRIES) return undefined
      return Math.round(
        firstRetryMs * FACTOR ** (failedAttempts - 1) * (1 + JITTER * (2 * random() - 1)),
      )
    },
  }
}

/** How long to wait before something that failed is tried again. Must not know what failed. */

/** A server that nodes share, which went away. */
const SERVER: Backoff = { firstMs: 50, longestMs: 2_000 }

export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Twice as long each time, and never the same for two who failed in the same moment.
 * @param attempt 0 for the first
 * @param random uniform in [0, 1)
 * @returns milliseconds
 */
export function backoffMs(
  attempt: number,
  { firstMs, longestMs }: Backoff,
  random = Math.random,
): number {
  return withJitter(grownMs(attempt, { firstMs, longestMs }), random)
}

/**
 * Twice as long each time, up to the longest, for those who do not fail together.
 * @param attempt 0 for the first
 * @returns milliseconds
 */
export function grownMs(attempt: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16))
}

/** @param attempt 0 for the first */
export function retryDelayMs(attempt: number): number {
  return backoffMs(attempt, SERVER)
}

/** Between half of it and all. */
export function withJitter(fullMs: number, random = Math.random): number {
  return Math.round(fullMs * (0.5 + random() / 2))
}

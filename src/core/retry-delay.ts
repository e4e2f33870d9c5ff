/** How long to wait before a retry. */

/** Delays for a shared server that all nodes lost at once. */
const SERVER: Backoff = { firstMs: 50, longestMs: 2_000 }

export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Doubles each time, with jitter, so simultaneous failures do not retry together.
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
 * Delay without jitter, for failures that are not simultaneous.
 * @param attempt 0 for the first
 * @returns milliseconds
 */
export function grownMs(attempt: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16))
}

export function retryDelayMs(attempt: number): number {
  return backoffMs(attempt, SERVER)
}

export function withJitter(fullMs: number, random = Math.random): number {
  return Math.round(fullMs * (0.5 + random() / 2))
}

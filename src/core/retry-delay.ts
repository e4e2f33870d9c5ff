/** How long to wait before a server that went away is asked again. Knows no server. */

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2_000

/**
 * Milliseconds: twice as long each time, and never the same for two nodes, which lost their
 * connection in the same moment.
 * @param attempt 0 for the first
 */
export function retryDelayMs(attempt: number): number {
  const fullMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 16))
  return withJitter(fullMs)
}

/** Between half of it and all. */
export function withJitter(fullMs: number): number {
  return Math.round(fullMs * (0.5 + Math.random() / 2))
}

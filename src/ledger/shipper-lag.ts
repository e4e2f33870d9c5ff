/**
 * How far the store is behind the journal. Looks at a file, so it is for whoever watches and not
 * for calls.
 */
import { statSync } from 'node:fs'
import type { ClosedSegments } from './closed-segments.ts'

/**
 * Seconds since the oldest segment that waits for the store was last written to; 0 while none
 * waits.
 */
export function shipperLagSeconds(
  closed: Pick<ClosedSegments, 'list'>,
  nowMs = Date.now(),
): number {
  const [oldest] = closed.list()
  if (oldest === undefined) return 0
  const file = statSync(oldest.path, { throwIfNoEntry: false })
  // Shipped while we looked.
  if (file === undefined) return 0
  return Math.max(0, nowMs - file.mtimeMs) / 1000
}

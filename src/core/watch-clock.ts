/**
 * Notices that the machine's clock was set, or that the machine slept. Must not know whom that
 * concerns.
 */
import type { Timekeeper } from './clock.ts'

/** Milliseconds since the Unix epoch: what the clock would say, and what it says. */
export interface ClockStep {
  readonly fromMs: number
  readonly toMs: number
}

const LOOK_MS = 1_000
/** Clocks that are kept right are moved by less, and slowly. */
const LEAST_STEP_MS = 2_000

/** @returns what ends it */
export function watchClock(clock: Timekeeper, onStep: (step: ClockStep) => void): () => void {
  let aheadMs = clock.now() - clock.elapsed()
  return clock.every(LOOK_MS, () => {
    const toMs = clock.now()
    const fromMs = Math.round(clock.elapsed() + aheadMs)
    if (Math.abs(toMs - fromMs) < LEAST_STEP_MS) return
    aheadMs += toMs - fromMs
    onStep({ fromMs, toMs })
  })
}

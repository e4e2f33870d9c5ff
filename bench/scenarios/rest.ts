/** Waits until a contender is idle, so that work left by one load does not count for the next. */
import type { RunningContender } from '../contender.ts'

/** A process that uses less of its core has finished the work of the earlier load. */
const IDLE_SHARE = 0.02
const IDLE_LOOK_MS = 250
const LONGEST_REST_MS = 20_000

/** Waits for the rest of a load's work: shipping of rows, garbage collection, compilation. */
export async function rest({ process }: RunningContender): Promise<void> {
  const until = performance.now() + LONGEST_REST_MS
  let used = Number.POSITIVE_INFINITY
  while (process !== undefined && used > IDLE_SHARE && performance.now() < until) {
    const before = process.cpuMicros()
    await Bun.sleep(IDLE_LOOK_MS)
    used = (process.cpuMicros() - before) / (IDLE_LOOK_MS * 1000)
  }
}

/** Waits until a contender is idle: what a load left behind is no cost of the next one. */
import type { RunningContender } from '../contender.ts'

/** A process that uses less of its core has nothing left over from the load before. */
const IDLE_SHARE = 0.02
const IDLE_LOOK_MS = 250
const LONGEST_REST_MS = 20_000

/** Until what a load left behind is done: rows on their way into a store, garbage, compilers. */
export async function rest({ process }: RunningContender): Promise<void> {
  const until = performance.now() + LONGEST_REST_MS
  let used = Number.POSITIVE_INFINITY
  while (process !== undefined && used > IDLE_SHARE && performance.now() < until) {
    const before = process.cpuMicros()
    await Bun.sleep(IDLE_LOOK_MS)
    used = (process.cpuMicros() - before) / (IDLE_LOOK_MS * 1000)
  }
}

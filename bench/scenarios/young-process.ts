/**
 * The first minute after a start: the cost and latency of a call while the runtime still compiles.
 */
import type { RunningContender } from '../contender.ts'
import { measureLatency } from '../measure-latency.ts'
import type { Note, Plan } from '../plan.ts'

const PER_SECOND = 1000
const WINDOW_SECONDS = 10

export async function measureYoungProcess(
  plan: Plan,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  for (let from = 0; from < plan.youngSeconds; from += WINDOW_SECONDS) {
    const load = { perSecond: PER_SECOND, seconds: WINDOW_SECONDS, warmUpSeconds: 0 }
    const { failed, cpuMicrosPerCall, p99Ms } = await measureLatency(contender, load)
    if (failed > 0) throw new Error(`${failed} calls failed in the first minute`)
    const label = `after the start, at 1,000 calls/s, seconds ${from} to ${from + WINDOW_SECONDS}`
    note(`${label}: CPU µs a call`, cpuMicrosPerCall ?? Number.NaN)
    note(`${label}: p99, ms`, p99Ms)
  }
}

/** Whole answers: how many a second, what each costs, and what a steady rate of them adds in latency. */
import type { RunningContender } from '../contender.ts'
import { measureLatency } from '../measure-latency.ts'
import { measureThroughput } from '../measure-throughput.ts'
import type { Note, Plan } from '../plan.ts'

/** Above this share of its core a contender was busy; below, generator or upstream were what held it back. */
const BUSY_SHARE = 0.85

export async function measureWholeAnswers(
  plan: Plan,
  folder: string,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  for (const bodyBytes of plan.bodies) {
    for (const connections of plan.connections) {
      const load = { bodyBytes, connections, seconds: plan.seconds, folder }
      const measured = await measureThroughput(contender, load)
      if (measured.failed > 0)
        throw new Error(`${measured.failed} calls failed: the figures would mean nothing`)
      const label = `${size(bodyBytes)}, ${connections} connection${connections === 1 ? '' : 's'}`
      note(`${label}: calls/s`, measured.requestsPerSecond)
      if (measured.cpuMicrosPerCall === undefined) continue
      note(`${label}: CPU µs a call`, measured.cpuMicrosPerCall)
      const busy = (measured.requestsPerSecond * measured.cpuMicrosPerCall) / 1e6
      // One connection waits for itself; that is no bottleneck of anybody's.
      if (busy < BUSY_SHARE && connections > 1) note(`${label}: share of its core used`, busy)
      if (bodyBytes === plan.bodies[0] && connections === 64)
        note('memory: under load, MB', megabytes(contender))
    }
  }
  for (const perSecond of plan.rates) {
    const latency = await measureLatency(contender, { perSecond, seconds: Math.max(3, plan.seconds) })
    if (latency.failed > 0) {
      // Percentiles of the calls that survived would flatter it.
      console.log(`  ${latency.failed} calls failed at ${perSecond} a second: no figure`)
      continue
    }
    note(`${perSecond} calls/s: p50, ms`, latency.p50Ms)
    note(`${perSecond} calls/s: p99, ms`, latency.p99Ms)
    note(`${perSecond} calls/s: p99.9, ms`, latency.p999Ms)
  }
  note('memory: after load, MB', megabytes(contender))
}

export function megabytes(contender: RunningContender): number {
  return (contender.process?.residentBytes() ?? Number.NaN) / 1e6
}

export function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} KB`
}

/**
 * Whole answers: how many a second, what each costs, and what a steady rate of them adds in
 * latency.
 */
import type { RunningContender } from '../contender.ts'
import { measureLatency } from '../measure-latency.ts'
import { measureThroughput, type Throughput } from '../measure-throughput.ts'
import type { Load, Note, Pace, Plan } from '../plan.ts'
import type { JsonUpstream } from '../upstream.ts'
import { rest } from './rest.ts'

/**
 * Above this share of its core a contender was busy; below, generator or upstream were what held it
 * back.
 */
const BUSY_SHARE = 0.85
/** The load of which memory and the slowest calls are told. */
const FULL_LOAD: Load = { bodyBytes: 1024, connections: 64 }

export async function measureWholeAnswers(
  plan: Plan,
  { folder, upstream }: { readonly folder: string; readonly upstream: JsonUpstream },
  contender: RunningContender,
  note: Note,
): Promise<void> {
  for (const load of plan.loads) {
    const acceptedBefore = await upstream.connectionsAccepted()
    const measured = await measureThroughput(contender, { ...load, seconds: plan.seconds, folder })
    const opened = (await upstream.connectionsAccepted()) - acceptedBefore
    const { connections, bodyBytes } = load
    const label = `${size(bodyBytes)}, ${connections.toLocaleString('en-US')} connection${connections === 1 ? '' : 's'}`
    const fault = findFault(measured, connections)
    if (fault !== undefined) {
      console.log(`  ${label}: ${fault}: no figure`)
      continue
    }
    const isFull = bodyBytes === FULL_LOAD.bodyBytes && connections === FULL_LOAD.connections
    note(`${label}: calls/s`, measured.requestsPerSecond)
    if (isFull) {
      note(`${label}: p50, ms`, measured.p50Ms)
      note(`${label}: p99, ms`, measured.p99Ms)
    }
    if (measured.cpuMicrosPerCall === undefined) continue
    note(`${label}: CPU µs a call`, measured.cpuMicrosPerCall)
    const busy = (measured.requestsPerSecond * measured.cpuMicrosPerCall) / 1e6
    // One connection waits for itself; that is no bottleneck of anybody's.
    if (busy < BUSY_SHARE && connections > 1) note(`${label}: share of its core used`, busy)
    if (isFull) note('memory: under load, MB', megabytes(contender))
    if (connections <= FULL_LOAD.connections) continue
    note(`${label}: upstream connections opened`, opened)
    note(`${label}: … for 1,000 calls`, (1000 * opened) / measured.calls)
  }
}

/** @returns why the measurement is thrown away: its figures would mean nothing, or flatter */
function findFault(
  { calls, failed, timedOut }: Throughput,
  connections: number,
): string | undefined {
  if (failed + timedOut > 0) return `${failed + timedOut} calls failed`
  // Some connection waited from the first second to the last.
  return calls < connections ? `${calls} answers on ${connections} connections` : undefined
}

/**
 * Notes nothing of a pace at which calls failed: percentiles of those that survived would flatter.
 */
export async function measurePaces(
  paces: readonly Pace[],
  contender: RunningContender,
  note: Note,
): Promise<void> {
  for (const { perSecond, seconds, isEveryday = false } of paces) {
    if (isEveryday && contender.process === undefined) continue
    await rest(contender)
    const latency = await measureLatency(contender, { perSecond, seconds })
    if (latency.failed > 0) {
      console.log(`  ${latency.failed} calls failed at ${perSecond} a second: no figure`)
      continue
    }
    const label = `${perSecond.toLocaleString('en-US')} calls/s`
    if (latency.cpuMicrosPerCall !== undefined)
      note(`${label}: CPU µs a call`, latency.cpuMicrosPerCall)
    if (isEveryday) continue
    note(`${label}: p50, ms`, latency.p50Ms)
    note(`${label}: p99, ms`, latency.p99Ms)
    note(`${label}: p99.9, ms`, latency.p999Ms)
  }
}

export function megabytes(contender: RunningContender): number {
  return (contender.process?.residentBytes() ?? Number.NaN) / 1e6
}

function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} KB`
}

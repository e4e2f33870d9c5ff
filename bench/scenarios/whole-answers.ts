/**
 * Complete answers: the maximum rate, the cost of an answer, and the added latency at a constant
 * rate.
 */
import type { RunningContender } from '../contender.ts'
import { measureLatency } from '../measure-latency.ts'
import { measureThroughput, type Throughput } from '../measure-throughput.ts'
import type { Load, Note, Pace } from '../plan.ts'
import type { JsonUpstream } from '../upstream.ts'
import { rest } from './rest.ts'

/**
 * Above this share of its core, the contender was busy. Below, generator or upstream were the
 * bottleneck.
 */
const BUSY_SHARE = 0.85
/** The load for which memory and the slowest calls are reported. */
const FULL_LOAD: Load = { bodyBytes: 1024, connections: 64 }

/**
 * One turn of a contender under one load. Its work after the last answer is part of the cost, and
 * ends before the next contender's turn.
 */
export async function measureLoad(
  load: Load,
  { seconds, folder, upstream }: Turn,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  const acceptedBefore = await upstream.connectionsAccepted()
  const cpuBefore = contender.process?.cpuMicros() ?? 0
  const measured = await measureThroughput(contender, { ...load, seconds, folder })
  await rest(contender)
  const cpuMicros = (contender.process?.cpuMicros() ?? 0) - cpuBefore
  const opened = (await upstream.connectionsAccepted()) - acceptedBefore
  const { connections, bodyBytes, isAgent } = load
  const kind = isAgent === true ? ' of an agent' : ''
  const label = `${size(bodyBytes)}${kind}, ${connections.toLocaleString('en-US')} connection${connections === 1 ? '' : 's'}`
  const fault = findFault(measured, connections)
  if (fault !== undefined) {
    console.log(`  ${label}: ${fault}: no figure`)
    return
  }
  const isFull = bodyBytes === FULL_LOAD.bodyBytes && connections === FULL_LOAD.connections
  note(`${label}: calls/s`, measured.requestsPerSecond)
  if (isFull) {
    note(`${label}: p50, ms`, measured.p50Ms)
    note(`${label}: p99, ms`, measured.p99Ms)
  }
  if (measured.cpuMicrosPerCall === undefined) return
  note(`${label}: CPU µs a call`, cpuMicros / measured.calls)
  const busy = (measured.requestsPerSecond * measured.cpuMicrosPerCall) / 1e6
  // With one connection, waiting for the answer is not a bottleneck.
  if (busy < BUSY_SHARE && connections > 1) note(`${label}: share of its core used`, busy)
  if (isFull) note('memory: under load, MB', megabytes(contender))
  if (connections <= FULL_LOAD.connections) return
  note(`${label}: upstream connections opened`, opened)
  note(`${label}: … for 1,000 calls`, (1000 * opened) / measured.calls)
}

interface Turn {
  readonly seconds: number
  readonly folder: string
  readonly upstream: JsonUpstream
}

/** @returns the reason to discard the measurement; undefined when the figures are valid */
function findFault(
  { calls, failed, timedOut }: Throughput,
  connections: number,
): string | undefined {
  if (failed + timedOut > 0) return `${failed + timedOut} calls failed`
  // Some connection waited during the whole measurement.
  return calls < connections ? `${calls} answers on ${connections} connections` : undefined
}

/**
 * Records nothing for a pace at which calls failed, because percentiles of the others would look
 * too good.
 */
export async function measureAtPace(
  { perSecond, seconds, isEveryday = false }: Pace,
  contender: RunningContender,
  note: Note,
): Promise<void> {
  if (isEveryday && contender.process === undefined) return
  await rest(contender)
  const latency = await measureLatency(contender, { perSecond, seconds })
  if (latency.failed > 0) {
    console.log(`  ${latency.failed} calls failed at ${perSecond} a second: no figure`)
    return
  }
  const label = `${perSecond.toLocaleString('en-US')} calls/s`
  if (latency.cpuMicrosPerCall !== undefined)
    note(`${label}: CPU µs a call`, latency.cpuMicrosPerCall)
  if (isEveryday) return
  note(`${label}: p50, ms`, latency.p50Ms)
  note(`${label}: p99, ms`, latency.p99Ms)
  note(`${label}: p99.9, ms`, latency.p999Ms)
}

export function megabytes(contender: RunningContender): number {
  return (contender.process?.residentBytes() ?? Number.NaN) / 1e6
}

function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} KB`
}

/**
 * Latency at a fixed rate. Each call is timed from the moment when it was due, not from when it was
 * sent, so a stall counts for every call that it delays (coordinated omission).
 */

import { chatBody } from './bodies.ts'
import type { RunningContender } from './contender.ts'

export interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /**
   * The contender's processor time per call, including its work between calls. Undefined without a
   * contender between generator and upstream.
   */
  readonly cpuMicrosPerCall?: number
  readonly failed: number
}

/** Precision of sending calls and noticing answers. */
const TICK_MS = 0.05
const NOBODY = new Int32Array(new SharedArrayBuffer(4))

export async function measureLatency(
  contender: RunningContender,
  load: {
    readonly perSecond: number
    readonly seconds: number
    /**
     * Seconds at the start whose calls are not counted, because code and connections warm up.
     * Default: 1.
     */
    readonly warmUpSeconds?: number
  },
): Promise<Latency> {
  const body = chatBody(contender.model, 1024)
  const headers = { 'content-type': 'application/json', ...contender.headers }
  const total = load.perSecond * load.seconds
  const times: number[] = []
  let failed = 0
  const cpuBefore = contender.process?.cpuMicros() ?? 0
  const startedAt = performance.now()
  const running: Promise<void>[] = []
  const call = async (dueAt: number) => {
    try {
      const response = await fetch(contender.url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
      times.push(performance.now() - dueAt)
    } catch {
      failed += 1 // Reported with the result: a contender may be too slow for this rate.
    }
  }
  for (let sent = 0; sent < total; ) {
    const due = Math.min(
      total,
      Math.floor(((performance.now() - startedAt) * load.perSecond) / 1000),
    )
    for (; sent < due; sent += 1) running.push(call(startedAt + (sent * 1000) / load.perSecond))
    // Not a busy loop, which would keep the HTTP client from its work on the core that generator
    // and upstream share.
    Atomics.wait(NOBODY, 0, 0, TICK_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(running)
  const cpuMicros = (contender.process?.cpuMicros() ?? 0) - cpuBefore
  const steady = times.slice(load.perSecond * (load.warmUpSeconds ?? 1)).sort((a, b) => a - b)
  const at = (share: number) =>
    steady[Math.min(steady.length - 1, Math.floor(steady.length * share))] ?? Number.NaN
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    failed,
    ...(contender.process === undefined ? {} : { cpuMicrosPerCall: cpuMicros / total }),
  }
}

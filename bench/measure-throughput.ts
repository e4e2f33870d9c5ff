/** Complete answers at the maximum rate, requested by wrk on the generator's core. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentBody, chatBody } from './bodies.ts'
import type { RunningContender } from './contender.ts'
import { LOAD_CORE } from './pinned-process.ts'

export interface Throughput {
  readonly requestsPerSecond: number
  /**
   * The contender's processor time per call. Undefined without a process of the bench between
   * generator and upstream.
   */
  readonly cpuMicrosPerCall?: number
  readonly failed: number
  readonly calls: number
  /** Not reported when each call has a different key. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Calls without an answer in time, and broken connections. */
  readonly timedOut: number
  readonly broken: number
}

const DEFAULT_TIMEOUT_SECONDS = 10

export async function measureThroughput(
  contender: RunningContender,
  load: {
    readonly bodyBytes: number
    /** True: an agent's body. */
    readonly isAgent?: boolean
    readonly connections: number
    readonly seconds: number
    readonly folder: string
    /**
     * Number of different keys to send in turn instead of the contender's own key; 0: only unknown
     * keys.
     */
    readonly keys?: number
    /** Seconds until a call counts as timed out. Default: 10. */
    readonly timeoutSeconds?: number
  },
): Promise<Throughput> {
  const path = join(load.folder, 'body.json')
  const toBody = load.isAgent === true ? agentBody : chatBody
  writeFileSync(path, toBody(contender.model, load.bodyBytes))
  const headers = { 'content-type': 'application/json', ...contender.headers }
  const cpuBefore = contender.process?.cpuMicros() ?? 0
  const child = Bun.spawn(
    [
      'taskset',
      '-c',
      LOAD_CORE,
      'wrk',
      '-t1',
      `-c${load.connections}`,
      `-d${load.seconds}s`,
      '--timeout',
      `${load.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS}s`,
      '-s',
      load.keys === undefined ? 'bench/post.lua' : 'bench/keys.lua',
      contender.url,
    ],
    {
      env: {
        PATH: process.env.PATH ?? '',
        BENCH_BODY: path,
        BENCH_KEYS: String(load.keys),
        BENCH_HEADERS: Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n'),
      },
      stdout: 'pipe',
    },
  )
  const output = await new Response(child.stdout).text()
  await child.exited
  const cpuMicros = (contender.process?.cpuMicros() ?? 0) - cpuBefore
  const measured = readWrk(output)
  return {
    ...measured,
    ...(contender.process === undefined
      ? {}
      : { cpuMicrosPerCall: cpuMicros / Math.max(1, measured.calls) }),
  }
}

/** @param output wrk's output, with the line that bench/post.lua adds */
export function readWrk(output: string): Omit<Throughput, 'cpuMicrosPerCall'> {
  const numberIn = (pattern: RegExp, missing = 0) => Number(pattern.exec(output)?.[1] ?? missing)
  return {
    requestsPerSecond: numberIn(/Requests\/sec:\s+([\d.]+)/),
    calls: numberIn(/(\d+) requests in/),
    failed: numberIn(/Non-2xx or 3xx responses: (\d+)/),
    p50Ms: numberIn(/bench: .*p50 (\d+)/, Number.NaN) / 1000,
    p99Ms: numberIn(/bench: .*p99 (\d+)/, Number.NaN) / 1000,
    timedOut: numberIn(/bench: timed out (\d+)/),
    broken: numberIn(/bench: .*broken (\d+)/),
  }
}

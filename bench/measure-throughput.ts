/** Whole answers as fast as they go: wrk on the generator's core. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningContender } from './contender.ts'
import { LOAD_CORE } from './pinned-process.ts'

export interface Throughput {
  readonly requestsPerSecond: number
  /** Processor time of the contender for each call; absent when nothing of ours is in between. */
  readonly cpuMicrosPerCall?: number
  readonly failed: number
}

export async function measureThroughput(
  contender: RunningContender,
  load: {
    readonly bodyBytes: number
    readonly connections: number
    readonly seconds: number
    readonly folder: string
    /** How many different keys to send in turn instead of the contender's own; 0: only ones that do not exist. */
    readonly keys?: number
  },
): Promise<Throughput> {
  const path = join(load.folder, 'body.json')
  writeFileSync(path, chatBody(contender.model, load.bodyBytes))
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
      '10s',
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
  const calls = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0)
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? 0),
    ...(contender.process === undefined ? {} : { cpuMicrosPerCall: cpuMicros / Math.max(1, calls) }),
    failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0),
  }
}

/** A chat request of about that many bytes: one long message, as an agent's context is. */
export function chatBody(model: string, bytes: number): string {
  const text = 'The quick brown fox jumps over the lazy dog. '
    .repeat(Math.ceil(bytes / 45))
    .slice(0, Math.max(1, bytes - 60))
  return JSON.stringify({ model, messages: [{ role: 'user', content: text }] })
}

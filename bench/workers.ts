/**
 * What more processes on one port bring: calls a second, processor time of a call and how evenly the kernel spreads connections.
 * `bun bench/workers.ts`; Postgres and Redis as Debian packages them. Load generator, upstream and stores share the machine's cores.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate } from '../test/support/control-plane.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { startRedis } from '../test/support/redis-server.ts'
import { type Gatehouse, startGatehouse } from '../test/support/start-gatehouse.ts'
import { callsByWorker, METRICS_TOKEN, readMetrics, workerPids } from '../test/support/worker-scene.ts'
import { processTicks } from './pinned-process.ts'
import { startJsonUpstream } from './upstream.ts'

const SECONDS = 6
const CONNECTIONS = 64
const BODY_BYTES = 1_000
const MICROS_PER_TICK = 10_000

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const postgres = await startPostgres()
const redis = await startRedis()
const upstream = await startJsonUpstream(folder)
const body = join(folder, 'body.json')
writeFileSync(
  body,
  JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'x'.repeat(BODY_BYTES) }] }),
)

async function start(workers: number, scheduling: string): Promise<Gatehouse> {
  const database = `bench_${workers}_${scheduling}`
  await postgres.run(`CREATE DATABASE ${database}`)
  const options = {
    environment: {
      DATABASE_URL: postgres.urlOf(database),
      REDIS_URL: redis.url,
      GATEHOUSE_REDIS_PREFIX: database,
      GATEHOUSE_METRICS_TOKEN: METRICS_TOKEN,
      GATEHOUSE_LOG_LEVEL: 'info',
      GATEHOUSE_SCHEDULING: scheduling,
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    },
  }
  const first = await startGatehouse(options)
  await createGate(first, 'bench', ['openai/gpt-4o'])
  await first.stop()
  const environment = { ...options.environment, GATEHOUSE_WORKERS: String(workers) }
  return await startGatehouse({ environment, key: first.key, dataFolder: first.dataFolder })
}

async function load(gatehouse: Gatehouse): Promise<number> {
  const child = Bun.spawn(
    [
      'wrk',
      '-t1',
      `-c${CONNECTIONS}`,
      `-d${SECONDS}s`,
      '-s',
      'bench/post.lua',
      `${gatehouse.url}/v1/chat/completions`,
    ],
    {
      env: {
        PATH: process.env.PATH ?? '',
        BENCH_BODY: body,
        BENCH_HEADERS: `content-type: application/json\nauthorization: Bearer ${gatehouse.key}`,
      },
      stdout: 'pipe',
    },
  )
  const output = await new Response(child.stdout).text()
  if (output.includes('Non-2xx')) throw new Error(output)
  return Number(/(\d+) requests in/.exec(output)?.[1] ?? 0)
}

try {
  console.log(`${availableParallelism()} cores, ${CONNECTIONS} connections, 1 KB, ${SECONDS} s each`)
  for (const [workers, scheduling] of [
    [1, 'batch'],
    [2, 'batch'],
    [2, 'normal'],
    [2, 'batch'],
    [1, 'batch'],
  ] as const) {
    const gatehouse = await start(workers, `${scheduling}`)
    try {
      await load(gatehouse)
      const pids = [gatehouse.pid, ...workerPids(gatehouse).values()]
      const ticks = () => pids.reduce((sum, pid) => sum + processTicks(pid), 0)
      const before = ticks()
      const calls = await load(gatehouse)
      const cpuMicros = (ticks() - before) * MICROS_PER_TICK
      const shares = [...callsByWorker(await readMetrics(`${gatehouse.url}/metrics`)).values()]
      console.log(
        `${workers} worker(s), ${scheduling}: ${Math.round(calls / SECONDS)} calls/s, ${(cpuMicros / calls).toFixed(0)} µs of CPU a call, ${shares.length > 1 ? shares.join(' + ') : 'all'} by worker`,
      )
    } finally {
      await gatehouse.stop()
      await gatehouse.remove()
      await postgres.run(`DROP DATABASE bench_${workers}_${scheduling} WITH (FORCE)`)
    }
  }
} finally {
  await upstream.stop()
  await redis.remove()
  await postgres.remove()
  rmSync(folder, { recursive: true, force: true })
}

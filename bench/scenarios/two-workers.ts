/**
 * Gatehouse only, on all cores together with generator, upstream and stores: one process, and two
 * workers on one port. Shows that a second worker helps. On two cores, the full gain is not
 * visible.
 */
import { mkdtempSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from '../../test/support/postgres-server.ts'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { NotMeasured } from '../contender.ts'
import { gatehouseWith } from '../contenders/gatehouse.ts'
import { findFault } from '../find-fault.ts'
import { measureThroughput } from '../measure-throughput.ts'
import type { Note } from '../plan.ts'

const LOAD = { bodyBytes: 1024, connections: 64, seconds: 4 }

/** @throws NotMeasured when Postgres or Redis is missing */
export async function measureWorkers(
  upstreamUrl: string,
  folder: string,
  note: Note,
): Promise<void> {
  if (findPostgres() === undefined)
    throw new NotMeasured('Postgres, which the workers share, is not installed')
  if (findRedis() === undefined)
    throw new NotMeasured('Redis, which the workers share, is not installed')
  const postgres = await startPostgres()
  try {
    const redis = await startRedis()
    try {
      for (const workers of [1, 2])
        await measure(workers, { upstreamUrl, folder, postgres, redis }, note)
    } finally {
      await redis.remove()
    }
  } finally {
    await postgres.remove()
  }
}

interface Scene {
  readonly upstreamUrl: string
  readonly folder: string
  readonly postgres: PostgresServer
  readonly redis: RedisServer
}

async function measure(workers: number, scene: Scene, note: Note): Promise<void> {
  const database = `bench_${workers}`
  await scene.postgres.run(`CREATE DATABASE ${database}`)
  const folder = mkdtempSync(join(scene.folder, 'workers-'))
  const running = await gatehouseWith({
    core: `0-${availableParallelism() - 1}`,
    dataFolder: folder,
    environment: {
      DATABASE_URL: scene.postgres.urlOf(database),
      REDIS_URL: scene.redis.url,
      GATEHOUSE_REDIS_PREFIX: database,
      GATEHOUSE_WORKERS: String(workers),
    },
  }).start({ url: scene.upstreamUrl, folder, streams: false })
  if (running === undefined) throw new Error('the gateway did not start')
  try {
    const fault = await findFault(running, false)
    if (fault !== undefined) throw new Error(fault)
    await measureThroughput(running, { ...LOAD, folder })
    const measured = await measureThroughput(running, { ...LOAD, folder })
    if (measured.failed + measured.timedOut > 0)
      throw new Error(`${measured.failed + measured.timedOut} calls failed`)
    const name = workers === 1 ? 'one process' : `${workers} workers`
    const label = `with Postgres and Redis, on every core, ${name}`
    note(`${label}: calls/s`, measured.requestsPerSecond)
    note(`${label}: CPU µs a call`, measured.cpuMicrosPerCall ?? Number.NaN)
    note(`${label}: p99, ms`, measured.p99Ms)
  } finally {
    await running.stop()
  }
}

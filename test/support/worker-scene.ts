/** Gateways of several workers on real stores, seen from outside. */

import { pollUntil } from './poll-until.ts'
import { createPostgresScene, type PostgresScene } from './postgres-scene.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { parseSeries, type Series } from './scrape.ts'
import {
  type Gatehouse,
  type GatehouseOptions,
  PATIENT_WITH_DATABASE,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from './start-gatehouse.ts'

export const METRICS_TOKEN = 'metrics'
/** Pause of each client between two calls, because a client without pauses keeps a core busy. */
const CLIENT_PAUSE_MS = 10

export interface WorkerScene {
  readonly postgres: PostgresScene
  readonly redis: RedisServer
  createStores(): Promise<Stores>
  remove(): Promise<void>
}

export interface Stores {
  readonly environment: Readonly<Record<string, string>>
  callIds(): Promise<readonly string[]>
}

export async function createWorkerScene(): Promise<WorkerScene> {
  const postgres = await createPostgresScene()
  const redis = await startRedis()
  let scenes = 0
  return {
    postgres,
    redis,
    createStores: async () => {
      scenes += 1
      const url = await postgres.createDatabase()
      const database = new URL(url).pathname.slice(1)
      return {
        environment: {
          DATABASE_URL: url,
          ...PATIENT_WITH_DATABASE,
          REDIS_URL: redis.url,
          ...PATIENT_WITH_REDIS,
          GATEHOUSE_REDIS_PREFIX: `scene-${scenes}`,
          GATEHOUSE_METRICS_TOKEN: METRICS_TOKEN,
        },
        callIds: async () =>
          (await postgres.server.run<{ id: string }>('SELECT id FROM calls', database)).map(
            ({ id }) => id,
          ),
      }
    },
    remove: async () => {
      await postgres.remove()
      await redis.remove()
    },
  }
}

export function startWorkers(
  { environment }: Stores,
  workers: number,
  options: GatehouseOptions = {},
): Promise<Gatehouse> {
  return startGatehouse({
    sandbox: true,
    ...options,
    environment: { ...environment, GATEHOUSE_WORKERS: String(workers), ...options.environment },
  })
}

/** The current process of each worker, by the log. */
export function workerPids({ output }: Gatehouse): ReadonlyMap<number, number> {
  const found = output().matchAll(
    /"worker":(\d+),"pid":(\d+),"restarts":\d+,"msg":"worker is ready"/g,
  )
  return new Map([...found].map(([, worker, pid]) => [Number(worker), Number(pid)]))
}

/** On a new connection, whose worker the kernel chooses. */
export function post({ url, key }: Gatehouse, body: object = { model: 'demo', input: 'hello' }) {
  return fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify(body),
  })
}

export async function readMetrics(url: string): Promise<Series> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}`, connection: 'close' },
  })
  if (response.status !== 200) throw new Error(`the metrics answered ${response.status}`)
  return parseSeries(await response.text())
}

/** Calls that ended well, by worker. */
export function callsByWorker(series: Series): ReadonlyMap<string, number> {
  const calls = new Map<string, number>()
  for (const [name, value] of series) {
    const worker = /^gatehouse_calls_total\{worker="(\d+)",.*outcome="succeeded"/.exec(name)?.[1]
    if (worker !== undefined) calls.set(worker, (calls.get(worker) ?? 0) + value)
  }
  return calls
}

/** Clients that continue after failed calls; `complete` are the calls that they received whole. */
export function keepCalling(gatehouse: Gatehouse, clients: number, complete: Set<string>) {
  let isStopped = false
  let failures = 0
  const client = async () => {
    while (!isStopped) {
      try {
        const response = await post(gatehouse)
        await response.json()
        if (response.status !== 200) throw new Error(`answered ${response.status}`)
        complete.add(response.headers.get('x-request-id') ?? '')
        await Bun.sleep(CLIENT_PAUSE_MS)
      } catch {
        failures += 1
        await Bun.sleep(10)
      }
    }
  }
  const all = Array.from({ length: clients }, client)
  return {
    failures: () => failures,
    stop: async () => {
      isStopped = true
      await Promise.all(all)
    },
  }
}

export async function waitForCalls(stores: Stores, complete: ReadonlySet<string>): Promise<void> {
  await pollUntil(
    'the rows of every complete answer',
    async () => {
      const kept = new Set(await stores.callIds())
      return complete.size > 0 && [...complete].every((id) => kept.has(id))
    },
    { timeoutMs: 50_000, intervalMs: 200 },
  )
}

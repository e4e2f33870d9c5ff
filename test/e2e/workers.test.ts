/**
 * `serve --workers`: several processes on one port are one gateway, and none of them can take the
 * others along.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createGate, createKey } from '../support/control-plane.ts'
import { isRunning } from '../support/is-running.ts'
import { pollUntil, within } from '../support/poll-until.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { findRedis } from '../support/redis-server.ts'
import { runCli } from '../support/run-cli.ts'
import { describeIf } from '../support/skip-unless.ts'
import type { Gatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import {
  callsByWorker,
  createWorkerScene,
  keepCalling,
  post,
  readMetrics,
  type Stores,
  startWorkers,
  type WorkerScene,
  waitForCalls,
  workerPids,
} from '../support/worker-scene.ts'

setDefaultTimeout(180_000)

describeIf(
  findPostgres() !== undefined && findRedis() !== undefined,
  'needs Postgres and redis-server',
)('serve --workers', () => {
  let scene: WorkerScene
  const started: Gatehouse[] = []
  beforeAll(async () => {
    scene = await createWorkerScene()
  })
  afterEach(async () => {
    for (const gatehouse of started.splice(0)) await remove(gatehouse)
  })
  afterAll(() => scene.remove())

  async function start(...parameters: Parameters<typeof startWorkers>): Promise<Gatehouse> {
    const gatehouse = await startWorkers(...parameters)
    started.push(gatehouse)
    return gatehouse
  }

  async function remove(gatehouse: Gatehouse | undefined): Promise<void> {
    if (gatehouse === undefined) return
    await gatehouse.kill()
    await whenGone(gatehouse)
    await gatehouse.remove()
  }

  async function whenGone(gatehouse: Gatehouse): Promise<void> {
    await pollUntil(
      'the end of the workers',
      () => ![...workerPids(gatehouse).values()].some(isRunning),
      {
        timeoutMs: 45_000,
      },
    )
  }

  test('all serve on one port, are announced once, and show the metrics of all at any of them', async () => {
    const stores = await scene.createStores()
    const gatehouse = await start(stores, 2, { environment: { GATEHOUSE_BOOTSTRAP_KEY: '' } })
    const keys = [...gatehouse.output().matchAll(/^ {2}(sk-svc-[0-9a-f]{64})$/gm)].map(
      ([, key]) => key ?? '',
    )
    expect(keys).toHaveLength(1)
    expect(gatehouse.output().match(/is listening on/g)).toHaveLength(1)
    const own = { ...gatehouse, key: keys[0] ?? '' }
    for (let call = 0; call < 60; call++) expect((await post(own)).status).toBe(200)
    for (let scraped = 0; scraped < 5; scraped++) {
      const series = await readMetrics(`${gatehouse.url}/metrics`)
      const calls = [...callsByWorker(series).values()]
      expect(calls).toHaveLength(2)
      expect(Math.min(...calls)).toBeGreaterThan(0)
      expect(calls.reduce((sum, count) => sum + count, 0)).toBe(60)
      expect(series.get('gatehouse_worker_up{worker="1"}')).toBe(1)
    }
    expect(await gatehouse.stop()).toBe(0)
    await whenGone(gatehouse)
    expect(await stores.callIds()).toHaveLength(60)
  })

  describe('two that go on', () => {
    let stores: Stores
    let gatehouse: Gatehouse
    beforeAll(async () => {
      stores = await scene.createStores()
      gatehouse = await startWorkers(stores, 2)
    })
    afterAll(() => remove(gatehouse))

    test('a second supervisor on the same port, or on the same folder, is refused', async () => {
      const folder = await createTemporaryFolder()
      const attempt = (environment: Record<string, string>) =>
        runCli(['serve', '--workers', '2'], {
          environment: { ...stores.environment, ...environment },
        })
      const samePort = await attempt({
        GATEHOUSE_PORT: new URL(gatehouse.url).port,
        GATEHOUSE_DATA_DIR: folder.path,
      })
      expect(samePort).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('another process has it'),
      })
      const sameFolder = await attempt({
        GATEHOUSE_PORT: '0',
        GATEHOUSE_DATA_DIR: gatehouse.dataFolder,
      })
      expect(sameFolder).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(gatehouse.url),
      })
      await folder.remove()
      expect((await controlPlaneCall(gatehouse, 'GET', '/v1/keys')).status).toBe(200)
    })

    test('a killed worker has a successor, the other goes on, and no row is lost', async () => {
      const before = workerPids(gatehouse)
      const complete = new Set<string>()
      const load = keepCalling(gatehouse, 8, complete)
      await pollUntil('calls', () => complete.size > 50)
      process.kill(before.get(0) ?? 0, 'SIGKILL')
      await pollUntil('the successor', () => workerPids(gatehouse).get(0) !== before.get(0))
      const sofar = complete.size
      await pollUntil('more calls', () => complete.size > sofar + 50)
      await load.stop()
      expect(workerPids(gatehouse).get(1)).toBe(before.get(1))
      // One for each client whose call was open in it, and connections that it had not yet
      // accepted.
      expect(load.failures()).toBeLessThanOrEqual(16)
      const series = await readMetrics(`${gatehouse.url}/metrics`)
      expect(series.get('gatehouse_worker_restarts_total{worker="0"}')).toBe(1)
      expect(series.get('gatehouse_worker_restarts_total{worker="1"}')).toBe(0)
      await waitForCalls(stores, complete)
    })

    test('a worker that gets SIGTERM finishes open calls, and has a successor', async () => {
      const before = workerPids(gatehouse)
      process.kill(before.get(1) ?? 0, 'SIGTERM')
      await pollUntil('the successor', () => workerPids(gatehouse).get(1) !== before.get(1))
      expect(gatehouse.output()).toContain('"worker":1,"reason":"SIGTERM","msg":"shutting down')
      expect((await post(gatehouse)).status).toBe(200)
      expect(await gatehouse.stop()).toBe(0)
    })
  })

  describe('two until they are ended', () => {
    let stores: Stores
    let gatehouse: Gatehouse
    beforeAll(async () => {
      stores = await scene.createStores()
      gatehouse = await startWorkers(stores, 2, {
        environment: { GATEHOUSE_METRICS_PORT: '0', GATEHOUSE_REQUESTS_PER_MINUTE: '30' },
      })
    })
    afterAll(() => remove(gatehouse))

    test('metrics on a separate port are those of all, and the main port names that port', async () => {
      const url = /"url":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(gatehouse.output())?.[1] ?? ''
      await post(gatehouse)
      expect((await readMetrics(url)).get('gatehouse_worker_restarts_total{worker="0"}')).toBe(0)
      const main = await fetch(`${gatehouse.url}/metrics`)
      expect(main.status).toBe(404)
      expect(await main.text()).toContain('GATEHOUSE_METRICS_PORT')
    })

    test('a limit of a key is one limit for all', async () => {
      const limited = { ...gatehouse, key: (await createKey(gatehouse, 'limited')).key }
      const beganAtMs = performance.now()
      const statuses: number[] = []
      for (let call = 0; call < 60; call++) statuses.push((await post(limited)).status)
      const refilled = Math.ceil(((performance.now() - beganAtMs) / 60_000) * 30)
      const admitted = statuses.filter((status) => status === 200).length
      expect(admitted).toBeGreaterThanOrEqual(30)
      expect(admitted).toBeLessThanOrEqual(30 + refilled)
      expect(statuses.filter((status) => status === 429)).toHaveLength(60 - admitted)
    })

    test('SIGTERM lets open streams of every worker finish, and all end with 0', async () => {
      await createGate(gatehouse, 'slow', ['sandbox/slow-stream-150'])
      const streams = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const response = await post(gatehouse, { model: 'slow', input: 'hello', stream: true })
          return { id: response.headers.get('x-request-id') ?? '', text: response.text() }
        }),
      )
      const code = gatehouse.stop()
      for (const { text } of streams) expect(await text).toContain('response.completed')
      expect(await code).toBe(0)
      await whenGone(gatehouse)
      await waitForCalls(stores, new Set(streams.map(({ id }) => id)))
    })
  })

  describe('two that are killed', () => {
    let stores: Stores
    let first: Gatehouse
    let gatehouse: Gatehouse
    beforeAll(async () => {
      stores = await scene.createStores()
      first = await startWorkers(stores, 2)
      gatehouse = first
    })
    afterAll(async () => {
      await remove(gatehouse)
      await remove(first)
    })

    test('no worker outlives a killed supervisor, and its port is free', async () => {
      const complete = new Set<string>()
      const load = keepCalling(gatehouse, 4, complete)
      await pollUntil('calls', () => complete.size > 20)
      await gatehouse.kill()
      await whenGone(gatehouse)
      await load.stop()
      await waitForCalls(stores, complete)
      const { port } = new URL(gatehouse.url)
      const again = await startWorkers(stores, 2, {
        key: gatehouse.key,
        dataFolder: gatehouse.dataFolder,
        environment: { GATEHOUSE_PORT: port },
      })
      gatehouse = again
      expect(new URL(again.url).port).toBe(port)
      expect((await post(again)).status).toBe(200)
    })

    test('a second signal ends all at once', async () => {
      // Every worker has it when the answer is there.
      await createGate(gatehouse, 'hang', ['sandbox/hang'])
      const open = post(gatehouse, { model: 'hang', input: 'hello' }).then(
        (response) => response.text(),
        () => 'broken',
      )
      await pollUntil('the call', async () => {
        const series = await readMetrics(`${gatehouse.url}/metrics`)
        return [...series].some(
          ([name, value]) => name.startsWith('gatehouse_calls_in_flight') && value > 0,
        )
      })
      gatehouse.signal('SIGTERM')
      await pollUntil('the first signal', () =>
        gatehouse.output().includes('shutting down: open calls'),
      )
      gatehouse.signal('SIGTERM')
      expect(await within(150_000, 'exit', gatehouse.exited)).toBe(1)
      await whenGone(gatehouse)
      expect(await open).toBe('broken')
    })
  })

  test('leftovers of three workers are shipped by one process, and its own by two workers', async () => {
    const stores = await scene.createStores()
    const complete = new Set<string>()
    const killUnderLoad = async (gatehouse: Gatehouse) => {
      const known = complete.size
      const load = keepCalling(gatehouse, 6, complete)
      await pollUntil('calls', () => complete.size > known + 60)
      // The supervisor last: it must not start successors, nor let workers end in order.
      for (const pid of workerPids(gatehouse).values()) process.kill(pid, 'SIGKILL')
      await gatehouse.kill()
      await load.stop()
      return { key: gatehouse.key, dataFolder: gatehouse.dataFolder }
    }
    const left = await killUnderLoad(await start(stores, 3))
    const single = await start(stores, 1, left)
    await waitForCalls(stores, complete)
    await killUnderLoad(single)
    const two = await start(stores, 2, left)
    await waitForCalls(stores, complete)
    expect(await two.stop()).toBe(0)
  })

  test('a worker that cannot start is reported once; if no worker can, all ends with the reason', async () => {
    const { environment, ...stores } = await scene.createStores()
    const gatehouse = await start({ ...stores, environment }, 2)
    const database = new URL(`${environment.DATABASE_URL}`).pathname.slice(1)
    const pids = [...workerPids(gatehouse).values()]
    await scene.postgres.server.run(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`)
    await scene.postgres.server.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
    )
    process.kill(pids[0] ?? 0, 'SIGKILL')
    const refusal = (worker: number) =>
      new RegExp(`"worker":${worker},"reason":".*accepting.*a worker ended`, 'g')
    await pollUntil('the first attempt', () => refusal(0).test(gatehouse.output()))
    expect((await post(gatehouse)).status).toBe(200)
    process.kill(pids[1] ?? 0, 'SIGKILL')
    expect(await within(150_000, 'end', gatehouse.exited)).toBe(1)
    const said = gatehouse.output()
    for (const worker of [0, 1]) expect(said.match(refusal(worker))).toHaveLength(1)
    expect(
      said.match(/^gatehouse: every worker ends soon after its start: .*accepting/gm),
    ).toHaveLength(1)
  })
})

describe('serve --workers refuses', () => {
  const refusal = async (words: readonly string[], environment: Record<string, string>) => {
    const folder = await createTemporaryFolder()
    const ran = await runCli(['serve', ...words], {
      environment: { GATEHOUSE_PORT: '0', GATEHOUSE_DATA_DIR: folder.path, ...environment },
    })
    await folder.remove()
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
    return ran
  }
  const away = {
    DATABASE_URL: 'postgres://user:planted@127.0.0.1:1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
  }

  test.each([
    ['without a database and Redis, naming both', {}, /DATABASE_URL.*REDIS_URL/],
    ['without Redis', { DATABASE_URL: away.DATABASE_URL }, /^(?!.*DATABASE_URL).*REDIS_URL/],
    ['without a database', { REDIS_URL: away.REDIS_URL }, /^(?!.*REDIS_URL).*DATABASE_URL/],
    ['when the database is away, once', away, /nothing listens there/],
    [
      'a setting that no worker could use, once',
      { ...away, GATEHOUSE_LOG_LEVEL: 'loud' },
      /GATEHOUSE_LOG_LEVEL/,
    ],
  ])('%s', async (_name, environment, reason) => {
    const { exitCode, stderr } = await refusal(['--workers', '3'], environment)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(reason)
    expect(stderr).not.toContain('planted')
  })

  test('an invalid number', async () => {
    expect((await refusal([], { GATEHOUSE_WORKERS: '0' })).stderr).toContain('GATEHOUSE_WORKERS')
    expect((await refusal([], { GATEHOUSE_WORKERS: 'many' })).stderr).toContain('GATEHOUSE_WORKERS')
  })

  test('to be a worker without a supervisor', async () => {
    expect((await refusal(['--worker', '0'], {})).stderr).toContain('--workers')
  })
})

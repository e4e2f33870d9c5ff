/**
 * Three gateways, one Redis: a key's limits hold across all of them, also when Redis is killed and
 * comes back empty.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { IS_LONG, tellProgress } from '../support/chaos-form.ts'
import { createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { findRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const NODES = 3
const PER_MINUTE = IS_LONG ? 600 : 300
/** The places that a node may hold in advance: docs/decisions/0018. */
const LEASE = Math.floor(PER_MINUTE / 64)
/** Time for hundreds of calls, on a busy machine. */
const PATIENCE = { timeoutMs: 90_000 }

describeIf(findRedis() !== undefined, 'needs redis-server')('three nodes on one Redis', () => {
  const key = createBootstrapKey()
  let redis: RedisServer
  let folder: TemporaryFolder
  let nodes: Gatehouse[] = []
  let scene = 0

  beforeAll(async () => {
    redis = await startRedis()
    folder = await createTemporaryFolder()
    // Ids of keys are a node's own: all three begin with the same data.
    const first = await startGatehouse({
      sandbox: true,
      key,
      dataFolder: join(folder.path, 'seed'),
    })
    await createGate(first, 'hang', ['sandbox/hang'])
    await first.stop()
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.remove()
  })
  afterAll(async () => {
    await redis.remove()
    await folder.remove()
  })

  async function start(
    environment: Record<string, string>,
    configuration = '',
  ): Promise<Gatehouse[]> {
    scene += 1
    nodes = []
    for (let index = 0; index < NODES; index++) {
      const dataFolder = join(folder.path, `scene-${scene}-${index}`)
      await cp(join(folder.path, 'seed'), dataFolder, { recursive: true })
      await Bun.write(join(dataFolder, 'gatehouse.yaml'), configuration)
      nodes.push(
        await startGatehouse({
          sandbox: true,
          key,
          dataFolder,
          environment: {
            REDIS_URL: redis.url,
            GATEHOUSE_REDIS_PREFIX: `scene-${scene}`,
            GATEHOUSE_METRICS_TOKEN: 'metrics',
            ...environment,
          },
        }),
      )
    }
    for (const node of nodes)
      await pollUntil('three nodes', async () => (await readRedis(node)).nodes === NODES)
    return nodes
  }

  async function readRedis(node: Gatehouse): Promise<Record<string, unknown>> {
    const answer = (await (await fetch(`${node.url}/readyz`)).json()) as {
      checks: { redis: Record<string, unknown> }
    }
    return answer.checks.redis
  }

  async function readMetrics(node: Gatehouse): Promise<string> {
    return await (
      await fetch(`${node.url}/metrics`, { headers: { authorization: 'Bearer metrics' } })
    ).text()
  }

  async function call(node: Gatehouse, prompt = 'hello'): Promise<Response> {
    const answer = await post(node, { model: 'demo', input: prompt })
    await answer.arrayBuffer()
    return answer
  }

  function post(node: Gatehouse, body: object): Promise<Response> {
    return fetch(`${node.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  test(`${PER_MINUTE} requests a minute are ${PER_MINUTE} for all nodes, even over a restart of Redis`, async () => {
    const gateways = await start({ GATEHOUSE_REQUESTS_PER_MINUTE: String(PER_MINUTE) })
    const startedAtMs = performance.now()
    const elapsedMs = () => performance.now() - startedAtMs
    let admitted = 0
    const statuses = new Map<number, number>()
    let isOver = false
    const flood = async (node: Gatehouse) => {
      while (!isOver) {
        const { status } = await call(node)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 200) admitted += 1
        else await Bun.sleep(20)
      }
    }
    const floods = gateways.flatMap((node) => [flood(node), flood(node)])
    await pollUntil('the first minute to be used', () => (statuses.get(429) ?? 0) > 50, PATIENCE)
    const bound = () => PER_MINUTE + (elapsedMs() * PER_MINUTE) / 60_000 + NODES * LEASE
    expect(admitted).toBeLessThanOrEqual(bound())
    await redis.kill()
    for (const node of gateways) {
      await pollUntil(
        'the loss to be noticed',
        async () => (await readRedis(node)).status === 'away',
      )
      expect(await readRedis(node)).toMatchObject({ limits: 'share', nodes: NODES })
      expect((await fetch(`${node.url}/healthz`)).status).toBe(200)
    }
    const admitMore = async (count: number) => {
      const enough = admitted + count
      await pollUntil('more calls to be let through', () => admitted > enough, PATIENCE)
    }
    await admitMore(8)
    await redis.start()
    for (const node of gateways)
      await pollUntil('Redis to be used again', async () => (await readRedis(node)).status === 'ok')
    await admitMore(8)
    isOver = true
    await Promise.all(floods)
    const most = bound()
    tellProgress(`admitted ${admitted}, bound ${Math.floor(most)}`)
    expect(admitted).toBeLessThanOrEqual(most)
    // And not much less: nobody is held back for what others did not use.
    expect(admitted).toBeGreaterThan(PER_MINUTE)
    expect([...statuses.keys()].sort()).toEqual([200, 429])
    const metrics = await fetch(`${gateways[0]?.url}/metrics`, {
      headers: { authorization: 'Bearer metrics' },
    })
    const text = await metrics.text()
    expect(text).toContain('gatehouse_redis_up 1')
    expect(text).toContain('gatehouse_limits_mode{mode="shared"} 1')
    for (const node of gateways) expect(node.output()).not.toContain('unhandled')
  })

  // Ten seconds of waiting; src/limits/shared-limits.test.ts says the same of a clock that is moved
  // on.
  if (IS_LONG)
    test('places of a node killed with its calls come back when its lease has ended', async () => {
      const gateways = await start({ GATEHOUSE_CONCURRENT_CALLS: '2' })
      const [first, second] = gateways
      if (first === undefined || second === undefined) throw new Error('no nodes')
      const open = ['one', 'two'].map(() =>
        post(first, { model: 'hang', input: 'wait' }).catch(() => undefined),
      )
      await pollUntil('both places to be taken', async () =>
        (await readMetrics(first)).includes('gatehouse_calls_in_flight 2'),
      )
      expect((await call(second)).status).toBe(429)
      await first.kill()
      await Promise.all(open)
      expect((await call(second)).status).toBe(429)
      await pollUntil('a free place', async () => (await call(second)).status === 200, {
        timeoutMs: 50_000,
        intervalMs: 250,
      })
    })

  test('a monthly quota is one for all nodes, and each shows the usage of all', async () => {
    const gateways = await start(
      PATIENT_WITH_REDIS,
      'plans: {default: small, definitions: {small: {monthlyTokens: 3000}}}',
    )
    const used: number[] = []
    const spend = async (node: Gatehouse) => {
      for (;;) {
        const answer = await post(node, { model: 'demo', input: 'hello', max_output_tokens: 50 })
        if (answer.status === 429 && (await answer.text()).includes('insufficient_quota')) return
        if (answer.status !== 200) {
          await Bun.sleep(20)
          continue
        }
        used.push(((await answer.json()) as { usage: { total_tokens: number } }).usage.total_tokens)
      }
    }
    await Promise.all(gateways.flatMap((node) => [spend(node), spend(node)]))
    const sum = used.reduce((total, each) => total + each, 0)
    expect(sum).toBeGreaterThanOrEqual(3000)
    expect(sum).toBeLessThanOrEqual(3000 + Math.max(...used))
    for (const node of gateways) {
      await pollUntil('the same sum on every node', async () => {
        const answer = await fetch(`${node.url}/v1/account`, {
          headers: { authorization: `Bearer ${key}` },
        })
        return JSON.stringify(await answer.json()).includes(String(sum))
      })
    }
  })
})

/**
 * A Redis that is another installation's stops the start, and is left alone by a node that serves;
 * an empty or older one is filled.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf } from '../../test/support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { startWebhookReceiver } from '../../test/support/webhook-receiver.ts'
import { readSettings } from '../config/settings.ts'
import type { Finding } from '../core/finding.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { checkServer } from '../doctor/check-server.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse, VERSION } from './compose.ts'
import { acceptLocalStore } from './local-store.ts'

setDefaultTimeout(60_000)

const PREFIX = 'pre'
const MARK = `${PREFIX}:installation`
const OTHER = 'inst_somebody-elses'
const CALLER = new Secret(`sk-svc-${'5a'.repeat(32)}`)

let folder: TemporaryFolder
let redis: RedisServer
const running: Gatehouse[] = []
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.remove())
beforeEach(async () => {
  folder = await createTemporaryFolder()
  await redis.client.flushall()
})
afterEach(async () => {
  await stop()
  await folder.remove()
})

type Environment = Record<string, string>

const withRedis = (): Environment => ({
  GATEHOUSE_DATA_DIR: folder.path,
  REDIS_URL: redis.url,
  GATEHOUSE_REDIS_PREFIX: PREFIX,
  GATEHOUSE_METRICS_TOKEN: 'of-the-scraper-0000',
  // A server that is only slow, on a busy machine, is not away.
  GATEHOUSE_REDIS_TIMEOUT_MS: '10000',
})

async function start(environment: Environment): Promise<Gatehouse> {
  const gatehouse = await composeGatehouse({
    settings: readSettings(environment),
    log: createLog('silent'),
    hasTelemetry: true,
  })
  gatehouse.keys.addEphemeral(CALLER, { accountId: DEFAULT_ACCOUNT, name: 'test' })
  running.push(gatehouse)
  return gatehouse
}

async function stop(): Promise<void> {
  for (const gatehouse of running.splice(0)) await gatehouse.close()
}

/** @returns why it was refused; empty: it was not */
async function refusalOf(environment: Environment): Promise<string> {
  try {
    await start(environment)
  } catch (error) {
    return error instanceof Error && error.name === 'InstallationMismatchError'
      ? error.message
      : `no mismatch: ${error}`
  }
  await stop()
  return ''
}

async function ask(gatehouse: Gatehouse, method: string, path: string, body?: object) {
  const response = await gatehouse.handle(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${CALLER.reveal()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

const readiness = (gatehouse: Gatehouse, status: string) =>
  pollUntil(`Redis to be ${status}`, async () => {
    const said = await ask(gatehouse, 'GET', '/readyz')
    const { redis } = said.json.checks as { redis?: Record<string, unknown> }
    return redis?.status === status ? { status: said.status, redis } : undefined
  })

/** The findings of `gatehouse doctor`. */
async function doctorOn(gatehouse: Gatehouse): Promise<readonly Finding[]> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => gatehouse.handle(request),
  })
  try {
    const { findings } = await checkServer({
      url: server.url.href,
      apiKey: undefined,
      version: VERSION,
    })
    return findings
  } finally {
    await server.stop(true)
  }
}

const postgres = databases.find(({ name }) => name === 'Postgres')
const canRun = postgres !== undefined && findRedis() !== undefined

describeIf(canRun, 'needs postgresql and redis-server')('with Postgres as the store', () => {
  let database: TestDatabase
  beforeEach(async () => {
    if (postgres === undefined) throw new Error('no Postgres')
    database = await postgres.create()
  })
  afterEach(async () => {
    await stop()
    await database.remove()
  })
  const environment = (): Environment => {
    const { location } = database
    if ('path' in location) throw new Error('no Postgres')
    return { ...withRedis(), DATABASE_URL: location.postgres.url.reveal() }
  }
  const ownId = async () =>
    (await database.run<{ id: string }>('SELECT id FROM installation'))[0]?.id

  test('the first start marks Redis as its own, and an emptied or older Redis is marked again', async () => {
    // Nodes of the version before leave it like this: counts, and nothing that says whose they are.
    await redis.client.set(`${PREFIX}:key:{k}`, 'counted')
    const gatehouse = await start(environment())
    expect(await redis.client.get(MARK)).toBe((await ownId()) ?? '')
    expect(await redis.client.ttl(MARK)).toBe(-1)
    expect(await redis.client.get(`${PREFIX}:key:{k}`)).toBe('counted')
    await redis.client.flushall()
    await pollUntil(
      'it to be filled',
      async () => (await redis.client.get(MARK)) === (await ownId()),
    )
    expect((await readiness(gatehouse, 'ok')).status).toBe(200)
    await stop()
    await redis.client.flushall()
    expect(await refusalOf(environment())).toBe('')
  })

  test("another installation's Redis stops the start unchanged, until the operator accepts it", async () => {
    await redis.client.mset(
      MARK,
      OTHER,
      `${PREFIX}:used:{acct_default}:1`,
      'theirs',
      'not:ours',
      'x',
    )
    const before = (await redis.client.keys('*')).sort()
    const refusal = await refusalOf(environment())
    expect(refusal).toContain(`found ${OTHER}, expected ${await ownId()}`)
    expect(refusal).toContain(`127.0.0.1:${redis.port}`)
    expect(refusal).toContain('gatehouse store accept')
    expect(await refusalOf(environment())).toBe(refusal)
    expect((await redis.client.keys('*')).sort()).toEqual(before)

    const { accepted, unasked } = await acceptLocalStore(environment())
    expect({ accepted, unasked }).toEqual({
      accepted: [expect.stringContaining(OTHER)],
      unasked: null,
    })
    expect((await redis.client.keys('*')).sort()).toEqual(['not:ours', MARK])
    expect(await refusalOf(environment())).toBe('')
    expect(await acceptLocalStore(environment())).toMatchObject({ accepted: [], unasked: null })
  })

  test('a Redis that does not answer is named by the command, which accepts the rest', async () => {
    await start(environment())
    await stop()
    const nobody = { ...environment(), REDIS_URL: 'redis://:planted-secret@127.0.0.1:1' }
    const { accepted, unasked } = await acceptLocalStore(nobody)
    expect(accepted).toEqual([])
    expect(unasked).toContain('Redis could not be asked')
    expect(unasked).not.toContain('planted')
  })

  test("a Redis that becomes another's counts as away, which is reported, until it is its own again", async () => {
    const receiver = startWebhookReceiver('unknown')
    try {
      const gatehouse = await start({ ...environment(), GATEHOUSE_TRUSTED_HOSTS: receiver.host })
      const hook = { url: receiver.url, events: ['redis.other'] }
      expect((await ask(gatehouse, 'POST', '/v1/webhooks', hook)).status).toBe(201)
      const id = (await ownId()) ?? ''
      await redis.client.set(MARK, OTHER)
      const told = await readiness(gatehouse, 'other')
      // A node without Redis goes on, as the operator has chosen for that.
      expect(told).toMatchObject({ status: 200, redis: { limits: 'share' } })
      const event = await pollUntil('the event', async () =>
        receiver.deliveries.find(({ eventName }) => eventName === 'redis.other'),
      )
      expect(event.event.data).toEqual({ found: OTHER, expected: id })
      expect(await gatehouse.renderMetrics?.()).toContain('\ngatehouse_redis_right 0\n')
      expect(await doctorOn(gatehouse)).toContainEqual(
        expect.objectContaining({
          level: 'fail',
          message: expect.stringContaining("another installation's"),
        }),
      )
      await redis.client.set(MARK, id)
      await readiness(gatehouse, 'ok')
      expect(await gatehouse.renderMetrics?.()).toContain('\ngatehouse_redis_right 1\n')
    } finally {
      await receiver.stop()
    }
  })

  test("a Redis away at the start and another's later is not used, and the node reports that", async () => {
    await redis.kill()
    const gatehouse = await start(environment())
    expect((await readiness(gatehouse, 'away')).status).toBe(200)
    await redis.start()
    // The node may be first: then it is its own for a moment.
    await redis.client.set(MARK, OTHER)
    expect((await readiness(gatehouse, 'other')).status).toBe(200)
  })
})

describeIf(findRedis() !== undefined, 'needs redis-server')(
  'with a file on each node as the store',
  () => {
    test('nodes share a Redis under their different ids, and do not mark it', async () => {
      const second = await createTemporaryFolder()
      try {
        await start(withRedis())
        const other = await start({ ...withRedis(), GATEHOUSE_DATA_DIR: second.path })
        expect((await readiness(other, 'ok')).redis).toMatchObject({ limits: 'shared', nodes: 2 })
        expect(await redis.client.exists(MARK)).toBe(0)
        await stop()
      } finally {
        await second.remove()
      }
    })
  },
)

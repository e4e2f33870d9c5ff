/** The connection to a real Redis: it fails fast, comes back by itself, and counts the nodes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import {
  findRedis,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../../test/support/redis-server.ts'
import { describeIf, testIf } from '../../test/support/skip-unless.ts'
import { type RedisSettings, readRedisSettings } from '../config/redis-settings.ts'
import { RedisStore, type RedisStoreState, takeRedis } from './redis-store.ts'
import type { SharedScript } from './shared-store.ts'

setDefaultTimeout(30_000)

const ADD: SharedScript = { name: 'add', lua: "return {redis.call('INCRBY', KEYS[1], ARGV[1])}" }

const MARK: SharedScript = {
  name: 'mark',
  lua: "return {redis.call('SET', KEYS[1], ARGV[1])['ok']}",
}

/** A server that is only slow, on a busy machine, is not away. */
const PATIENCE = { GATEHOUSE_REDIS_TIMEOUT_MS: '10000' }

function settingsOf(url: string, more: Record<string, string> = {}): RedisSettings {
  const settings = readRedisSettings({ REDIS_URL: url, ...PATIENCE, ...more })
  if (settings === undefined) throw new Error('no settings')
  return settings
}

describeIf(findRedis() !== undefined, 'needs redis-server')('one server', () => {
  let redis: RedisServer
  const stores: RedisStore[] = []
  const changes: RedisStoreState[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await redis.remove()
  })
  async function open(more: Record<string, string> = {}): Promise<RedisStore> {
    const settings = settingsOf(redis.url, more)
    const store = new RedisStore({ settings, onChange: (state) => changes.push(state) })
    stores.push(store)
    await store.open()
    return store
  }

  test('answers, and knows the number of nodes', async () => {
    const first = await open()
    expect(first.mode).toBe('shared')
    expect(await first.run(ADD, 'sum', [3])).toEqual([3])
    expect(await first.run(ADD, 'sum', [4])).toEqual([7])
    const second = await open()
    expect(second.nodes).toBe(2)
    await second.close()
    const third = await open()
    expect(third.nodes).toBe(2)
    expect(third.nodeId).not.toBe(first.nodeId)
  })

  test('of another installation gets no question and no presence, and is used once it is its own', async () => {
    const prefix = 'of-one'
    const said: (string | undefined)[] = []
    const store = new RedisStore({
      settings: settingsOf(redis.url, { GATEHOUSE_REDIS_PREFIX: prefix }),
      installationId: 'inst_one',
      onChange: ({ other }) => said.push(other),
    })
    stores.push(store)
    await store.open()
    expect(store.mode).toBe('shared')
    await redis.client.set(`${prefix}:installation`, 'inst_other')
    await pollUntil('it to be noticed', () => store.mode === 'share')
    expect(store.state()).toMatchObject({ isReady: false, other: 'inst_other' })
    expect(store.run(ADD, `${prefix}:sum`, [1])).rejects.toThrow("another installation's")
    await redis.client.del(`${prefix}:nodes`)
    const { questions } = store.state()
    await pollUntil('further looks', () => store.state().questions >= questions + 3)
    expect(await redis.client.keys(`${prefix}:*`)).toEqual([`${prefix}:installation`])
    await redis.client.del(`${prefix}:installation`)
    await pollUntil('its own', () => store.mode === 'shared')
    expect(store.state().other).toBeUndefined()
    expect(said).toEqual([undefined, 'inst_other', undefined])
    expect(await redis.client.get(`${prefix}:installation`)).toBe('inst_one')
  })

  test('fails at once when killed, and is back by itself once it runs again', async () => {
    const store = await open()
    await redis.kill()
    await pollUntil('the loss to be noticed', () => store.mode === 'share')
    expect(store.run(ADD, 'sum', [1])).rejects.toThrow('away')
    expect(store.state()).toMatchObject({ isReady: false, underWay: 0 })
    await redis.start()
    await pollUntil('the connection', () => store.mode === 'shared')
    expect(await store.run(ADD, 'other', [1])).toEqual([1])
  })

  test('without an answer is left after one question, and gets no further ones', async () => {
    const store = await open({ GATEHOUSE_REDIS_TIMEOUT_MS: '300' })
    await pollUntil('the connection', () => store.mode === 'shared')
    redis.pause()
    const failures = await Promise.allSettled([
      store.run(ADD, 'sum', [1]),
      store.run(ADD, 'sum', [1]),
    ])
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(store.mode).toBe('share')
    expect(store.run(ADD, 'sum', [1])).rejects.toThrow('away')
    redis.resume()
    await pollUntil('an answer', () => store.mode === 'shared')
  })

  test('that has no memory left is away until it has, and not again and again', async () => {
    const store = await open({ GATEHOUSE_REDIS_PREFIX: 'full' })
    // One whose lease has ended: to forget it needs no memory.
    await redis.client.zadd('full:nodes', 1, 'gone')
    changes.splice(0)
    await redis.client.config('SET', 'maxmemory', '1')
    await expect(store.run(ADD, 'full:sum', [1])).rejects.toThrow('OOM')
    const { questions } = store.state()
    await pollUntil('further looks', () => store.state().questions >= questions + 3)
    expect(changes.map(({ isReady }) => isReady)).toEqual([false])
    await redis.client.config('SET', 'maxmemory', '0')
    await pollUntil('memory', () => store.mode === 'shared')
    expect(changes.map(({ isReady }) => isReady)).toEqual([false, true])
  })

  test('is replaced by the operator’s choice while it is away, for as long as configured', async () => {
    const open_ = await open({ GATEHOUSE_LIMITS_OUTAGE: 'open', GATEHOUSE_LIMITS_GRACE_MS: '200' })
    changes.splice(0)
    await redis.kill()
    // The mode of that moment: the grace may be over before this looks.
    await pollUntil('the loss to be noticed', () => changes.some(({ mode }) => mode === 'open'))
    await pollUntil('the end of the grace', () => open_.mode === 'closed')
    const late = await open({ GATEHOUSE_LIMITS_OUTAGE: 'closed' })
    expect(late.mode).toBe('closed')
    await redis.start()
    await pollUntil('the connection', () => open_.mode === 'shared' && late.mode === 'shared')
  })
})

describeIf(findRedis() !== undefined, 'needs redis-server')('with a password', () => {
  test('a wrong one leaves the store away, and appears in no message', async () => {
    const redis = await startRedis(['--requirepass', 'planted-secret-1'])
    const messages: unknown[] = []
    const wrong = new RedisStore({
      settings: settingsOf(redis.url.replace('//', '//:planted-wrong@')),
      onChange: (_, error) => messages.push(error),
    })
    const right = new RedisStore({
      settings: settingsOf(redis.url.replace('//', '//:planted-secret-1@')),
    })
    await wrong.open()
    await right.open()
    expect(wrong.mode).toBe('share')
    expect(right.mode).toBe('shared')
    expect(messages).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^WRONGPASS/) }),
    ])
    expect(Bun.inspect(messages)).not.toContain('planted')
    await wrong.close()
    await right.close()
    await redis.remove()
  })
})

test.each([
  ['redis://127.0.0.1:1', 'ECONNREFUSED'],
  ['redis+sentinel://127.0.0.1:1/main', 'All sentinels are unreachable'],
])('%s, where nobody listens, is told of once, with the reason', async (url, reason) => {
  const messages: string[] = []
  const store = new RedisStore({
    settings: settingsOf(url),
    onChange: (_, error) => messages.push(String(error)),
  })
  // Behind sentinels it does not end.
  void store.open()
  await pollUntil('the reason', () => messages.length > 0)
  await Bun.sleep(500)
  expect(messages).toEqual([expect.stringContaining(reason)])
  await store.close()
})

testIf(findRedis() !== undefined, 'needs redis-server')(
  'a cluster of three keeps each key on its node, and a new owner finds it there',
  async () => {
    const cluster = await startRedisCluster()
    const store = new RedisStore({ settings: settingsOf(cluster.url) })
    try {
      await store.open()
      expect(store.mode).toBe('shared')
      for (let index = 0; index < 60; index++)
        expect(await store.run(ADD, `key:${index}`, [1])).toEqual([1])
      const sizes = await Promise.all(cluster.servers.map(({ client }) => client.dbsize()))
      expect(sizes.every((size) => size > 0)).toBe(true)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(61)

      // All that nodes counted goes with the installation that counted it, on whichever server it
      // is.
      for (let index = 0; index < 20; index++)
        await store.run(ADD, `gatehouse:used:{${index}}:1`, [1])
      await store.run(MARK, 'gatehouse:installation', ['inst_other'])
      expect(await takeRedis(settingsOf(cluster.url), 'inst_own')).toBe('inst_other')
      const left = await Promise.all(
        cluster.servers.map(({ client }) => client.keys('gatehouse:*')),
      )
      // The store above goes on telling that it is there.
      expect(left.flat().filter((key) => key !== 'gatehouse:nodes')).toEqual([
        'gatehouse:installation',
      ])
      expect(await takeRedis(settingsOf(cluster.url), 'inst_own')).toBeUndefined()
    } finally {
      await store.close()
      await cluster.remove()
    }
  },
)

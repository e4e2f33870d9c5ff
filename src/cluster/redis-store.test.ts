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
import { readRedisSettings } from '../config/redis-settings.ts'
import type { RedisSettings } from '../core/redis-settings.ts'
import { RedisStore, type RedisStoreState } from './redis-store.ts'
import type { SharedScript } from './shared-store.ts'

setDefaultTimeout(30_000)

const ADD: SharedScript = { name: 'add', lua: "return {redis.call('INCRBY', KEYS[1], ARGV[1])}" }

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

  test('answers, and knows how many nodes there are', async () => {
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

  test('killed, it fails at once, and is back by itself once it runs again', async () => {
    const store = await open()
    await redis.kill()
    await pollUntil('the loss to be noticed', () => store.mode === 'share')
    expect(store.run(ADD, 'sum', [1])).rejects.toThrow('away')
    expect(store.state()).toMatchObject({ isReady: false, underWay: 0 })
    await redis.start()
    await pollUntil('the connection', () => store.mode === 'shared')
    expect(await store.run(ADD, 'other', [1])).toEqual([1])
  })

  test('that does not answer is left after one question, not asked by everybody', async () => {
    const store = await open({ GATEHOUSE_REDIS_TIMEOUT_MS: '300' })
    await pollUntil('the connection', () => store.mode === 'shared')
    redis.pause()
    const failures = await Promise.allSettled([store.run(ADD, 'sum', [1]), store.run(ADD, 'sum', [1])])
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(store.mode).toBe('share')
    expect(store.run(ADD, 'sum', [1])).rejects.toThrow('away')
    redis.resume()
    await pollUntil('an answer', () => store.mode === 'shared')
  })

  test('what counts while it is away is the operator’s choice, for as long as they say', async () => {
    const open_ = await open({ GATEHOUSE_LIMITS_OUTAGE: 'open', GATEHOUSE_LIMITS_GRACE_MS: '200' })
    changes.splice(0)
    await redis.kill()
    // What it was at that moment: the grace may be over before this looks.
    await pollUntil('the loss to be noticed', () => changes.some(({ mode }) => mode === 'open'))
    await pollUntil('the end of the grace', () => open_.mode === 'closed')
    const late = await open({ GATEHOUSE_LIMITS_OUTAGE: 'closed' })
    expect(late.mode).toBe('closed')
    await redis.start()
    await pollUntil('the connection', () => open_.mode === 'shared' && late.mode === 'shared')
  })
})

describeIf(findRedis() !== undefined, 'needs redis-server')('with a password', () => {
  test('a wrong password is a store that is away, and the password is in no message', async () => {
    const redis = await startRedis(['--requirepass', 'planted-secret-1'])
    const messages: unknown[] = []
    const wrong = new RedisStore({
      settings: settingsOf(redis.url.replace('//', '//:planted-wrong@')),
      onChange: (_, error) => messages.push(error),
    })
    const right = new RedisStore({ settings: settingsOf(redis.url.replace('//', '//:planted-secret-1@')) })
    await wrong.open()
    await right.open()
    expect(wrong.mode).toBe('share')
    expect(right.mode).toBe('shared')
    expect(messages.length).toBeGreaterThan(0)
    expect(Bun.inspect(messages)).not.toContain('planted')
    await wrong.close()
    await right.close()
    await redis.remove()
  })
})

testIf(findRedis() !== undefined, 'needs redis-server')(
  'a cluster of three: each key goes where it belongs',
  async () => {
    const cluster = await startRedisCluster()
    const store = new RedisStore({ settings: settingsOf(cluster.url) })
    try {
      await store.open()
      expect(store.mode).toBe('shared')
      for (let index = 0; index < 60; index++) expect(await store.run(ADD, `key:${index}`, [1])).toEqual([1])
      const sizes = await Promise.all(cluster.servers.map(({ client }) => client.dbsize()))
      expect(sizes.every((size) => size > 0)).toBe(true)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(61)
    } finally {
      await store.close()
      await cluster.remove()
    }
  },
)

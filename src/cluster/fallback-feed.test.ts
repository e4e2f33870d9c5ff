/** Redis as the nodes' second way to hear of changes, on a real server. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { describeIf } from '../../test/support/skip-unless.ts'
import { readRedisSettings } from '../config/redis-settings.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import { FallbackFeed } from './fallback-feed.ts'
import { RedisStore } from './redis-store.ts'

setDefaultTimeout(30_000)

const LEASE_MS = 30_000

const changeOf = (seq: number): FollowedChange => ({
  seq,
  accountId: DEFAULT_ACCOUNT,
  resourceType: 'gate',
  resourceId: `gate "${seq}"`,
  operation: 'update',
})

test('the store’s answer is read, with any number of nodes and changes', async () => {
  const asked: { name: string; key: string; args: readonly unknown[] }[] = []
  let answer: readonly unknown[] = []
  const fallback = new FallbackFeed({
    store: {
      run: async ({ name }, key, args) => {
        asked.push({ name, key, args })
        return answer
      },
    },
    prefix: 'test',
    nodeId: () => 'a',
    leaseMs: LEASE_MS,
    connectedForMs: () => LEASE_MS,
  })
  answer = [50_000, 40_000, 'a', 50_500, 10, 'b', 49_000, 9, 'c', 50_000, 8]
  const told = await fallback.publish(10, [changeOf(10)])
  expect(told.forgottenMs).toBe(20_000)
  expect([...told.byId]).toEqual([
    ['a', { leaseMs: 500, knownSeq: 10 }],
    ['b', { leaseMs: -1_000, knownSeq: 9 }],
    ['c', { leaseMs: 0, knownSeq: 8 }],
  ])
  const [published] = asked
  answer = [2, ...[9, 10].flatMap((seq) => [seq, published?.args[2]])]
  expect(await fallback.renew(8, 3_000)).toEqual({
    type: 'behind',
    changes: [{ ...changeOf(10), seq: 9 }, changeOf(10)],
  })
  expect(asked[1]).toMatchObject({ key: 'test:changes', args: ['a', 8, 3_000] })
  // The store makes a method of each.
  for (const { name } of asked) expect(name).toMatch(/^[a-zA-Z]+$/)
})

test('forgetting resolves when the store has done it, and rejects when the store fails', async () => {
  const done = Promise.withResolvers<readonly unknown[]>()
  const fallback = new FallbackFeed({
    store: { run: () => done.promise },
    prefix: 'test',
    nodeId: () => 'a',
    leaseMs: LEASE_MS,
    connectedForMs: () => LEASE_MS,
  })
  const forgetting = fallback.forget(3)
  done.reject(new Error('away'))
  await expect(forgetting).rejects.toThrow('away')
})

describeIf(findRedis() !== undefined, 'needs redis-server')('on Redis', () => {
  let redis: RedisServer
  let store: RedisStore
  let connectedForMs = Number.POSITIVE_INFINITY
  beforeAll(async () => {
    redis = await startRedis()
    const settings = readRedisSettings({
      REDIS_URL: redis.url,
      GATEHOUSE_REDIS_TIMEOUT_MS: '10000',
    })
    if (settings === undefined) throw new Error('no settings')
    store = new RedisStore({ settings })
    await store.open()
  })
  afterAll(async () => {
    await store.close()
    await redis.remove()
  })
  beforeEach(async () => {
    await redis.client.flushall()
    connectedForMs = Number.POSITIVE_INFINITY
  })

  const open = (nodeId: string) =>
    new FallbackFeed({
      store,
      prefix: 'test',
      nodeId: () => nodeId,
      leaseMs: LEASE_MS,
      connectedForMs: () => connectedForMs,
    })

  test('a lease is granted to a node that knows every change, and another node gets the missing ones', async () => {
    const [a, b] = [open('a'), open('b')]
    await a.publish(10, [])
    expect(await b.renew(10, LEASE_MS)).toEqual({ type: 'granted' })
    const told = await a.publish(12, [changeOf(11), changeOf(12)])
    expect(told.byId.get('b')).toMatchObject({ knownSeq: 10 })
    expect(told.byId.get('b')?.leaseMs).toBeGreaterThan(0)
    expect(await b.renew(10, LEASE_MS)).toEqual({
      type: 'behind',
      changes: [changeOf(11), changeOf(12)],
    })
    expect(await b.renew(12, LEASE_MS)).toEqual({ type: 'granted' })
    expect((await a.publish(12, [])).byId.get('b')).toMatchObject({ knownSeq: 12 })
  })

  test('no lease is granted if the feed knows nothing, knows less, or lacks a change', async () => {
    const [a, b] = [open('a'), open('b')]
    expect(await b.renew(0, LEASE_MS)).toEqual({ type: 'refused' })
    await a.publish(10, [])
    expect(await b.renew(11, LEASE_MS)).toEqual({ type: 'refused' })
    await a.publish(13, [changeOf(12), changeOf(13)])
    expect(await b.renew(10, LEASE_MS)).toEqual({ type: 'refused' })
    expect(await b.renew(11, LEASE_MS)).toMatchObject({ type: 'behind' })
    // A late change does not replace a newer one.
    await a.publish(11, [changeOf(11)])
    expect(await b.renew(11, LEASE_MS)).toMatchObject({ type: 'behind' })
    expect(await b.renew(10, LEASE_MS)).toMatchObject({ type: 'behind' })
  })

  test('an emptied server reports how long forgotten leases may live', async () => {
    const [a, b] = [open('a'), open('b')]
    await a.publish(10, [])
    await b.renew(10, LEASE_MS)
    await redis.client.flushall()
    const told = await a.publish(11, [changeOf(11)])
    expect(told.byId.size).toBe(0)
    expect(told.forgottenMs).toBeGreaterThan(LEASE_MS - 10_000)
  })

  test('a newly connected server may be another one: it grants no lease, and may have forgotten some', async () => {
    const a = open('a')
    await a.publish(10, [])
    await redis.client.hset('test:changes', 'born', 1)
    expect((await a.publish(10, [])).forgottenMs).toBe(0)
    connectedForMs = 1_000
    expect((await a.publish(10, [])).forgottenMs).toBe(LEASE_MS - 1_000)
    expect(await a.renew(10, LEASE_MS)).toEqual({ type: 'refused' })
  })

  test('it keeps the last thousand changes, and the nodes of the last hour', async () => {
    const a = open('a')
    await a.publish(1, [changeOf(1)])
    for (let seq = 2; seq <= 1_500; seq += 100)
      await a.publish(
        seq + 99,
        Array.from({ length: 100 }, (_, index) => changeOf(seq + index)),
      )
    await redis.client.hset('test:changes', 'n:old', '1000 5')
    await a.publish(1_501, [])
    const fields = await redis.client.hkeys('test:changes')
    expect(fields.filter((field) => field.startsWith('c:'))).toHaveLength(1_000)
    expect(fields).not.toContain('n:old')
  })
})

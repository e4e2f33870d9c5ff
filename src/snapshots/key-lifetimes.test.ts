/** Keys that expire, and keys that are rotated, on two nodes with one store. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { hashApiKey } from '../core/api-key.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { KeyRegistry } from './key-registry.ts'

const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 5 }
const label = { accountId: DEFAULT_ACCOUNT, name: 'production' }
const stranger = 'acct_stranger' as AccountId
const HOUR_MS = 3_600_000

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  let time: { now: number }
  let here: KeyRegistry
  let there: KeyRegistry
  const startNode = () =>
    KeyRegistry.load({ keys: store.keys, limitsOf: () => limits, clock: { now: () => time.now } })
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    time = { now: Date.parse('2026-01-02T03:04:05Z') }
    here = await startNode()
    there = await startNode()
  })
  afterEach(async () => {
    for (const node of [here, there]) await node.close()
    await store.close()
    await database.remove()
  })

  const idBy = (node: KeyRegistry, key: Secret) => node.find(hashApiKey(key.reveal()))?.keyId
  /** By which of the keys one comes in, on each node, after the other one has followed. */
  async function acceptedOf(keyId: KeyId, ...keys: Secret[]) {
    await there.follow([{ accountId: DEFAULT_ACCOUNT, id: keyId }])
    return [here, there].map((node) => keys.map((key) => idBy(node, key) === keyId))
  }

  test('a key is refused from the moment that it expires, everywhere, and stays in the list', async () => {
    const { record, key } = await here.create({ ...label, expiresAt: time.now + HOUR_MS })
    const { id } = record
    time.now += HOUR_MS - 1
    expect(await acceptedOf(id, key)).toEqual([[true], [true]])
    time.now += 1
    expect(await acceptedOf(id, key)).toEqual([[false], [false]])
    expect(here.list(DEFAULT_ACCOUNT)).toMatchObject([{ id, expiresAt: time.now }])
    for (const change of [{ expiresAt: null }, { expiresAt: time.now + 1 }])
      await expect(here.update(DEFAULT_ACCOUNT, id, change)).rejects.toMatchObject({
        kind: 'conflict',
      })
    await expect(here.rotate(DEFAULT_ACCOUNT, id, HOUR_MS)).rejects.toMatchObject({
      kind: 'conflict',
    })
    await expect(here.import({ ...label, key })).rejects.toMatchObject({ kind: 'conflict' })
    expect(await here.update(DEFAULT_ACCOUNT, id, { name: 'over' })).toMatchObject({ name: 'over' })
    expect(await acceptedOf(id, key)).toEqual([[false], [false]])
  })

  test('an expiry is set, moved and removed while the key is in force, and is never in the past', async () => {
    const { record, key } = await here.create(label)
    await here.update(DEFAULT_ACCOUNT, record.id, { expiresAt: time.now + 10 })
    await here.update(DEFAULT_ACCOUNT, record.id, { expiresAt: time.now + HOUR_MS })
    time.now += 10
    expect(await acceptedOf(record.id, key)).toEqual([[true], [true]])
    await here.update(DEFAULT_ACCOUNT, record.id, { expiresAt: null })
    time.now += 10 * HOUR_MS
    expect(await acceptedOf(record.id, key)).toEqual([[true], [true]])
    for (const expiresAt of [time.now, time.now - 1, 0])
      for (const work of [
        () => here.create({ ...label, expiresAt }),
        () => here.update(DEFAULT_ACCOUNT, record.id, { expiresAt }),
      ])
        await expect(work()).rejects.toMatchObject({ kind: 'invalid_request', param: 'expiresAt' })
  })

  test('a clock that jumps and comes back ends no key', async () => {
    const { record, key } = await here.create({ ...label, expiresAt: time.now + HOUR_MS })
    const before = time.now
    time.now += 10 * HOUR_MS
    expect(await acceptedOf(record.id, key)).toEqual([[false], [false]])
    time.now = before
    expect(await acceptedOf(record.id, key)).toEqual([[true], [true]])
  })

  test('a rotated key is new under the same id, and the old one ends permanently at the chosen time', async () => {
    const { record, key: old } = await here.create(label)
    here.touch(record.id, 5_000)
    const { record: rotated, key } = await here.rotate(DEFAULT_ACCOUNT, record.id, HOUR_MS)
    expect(rotated).toMatchObject({
      id: record.id,
      name: label.name,
      lastUsedAt: 5_000,
      previous: { maskedPrefix: record.maskedPrefix, endsAt: time.now + HOUR_MS },
    })
    expect(await acceptedOf(record.id, old, key)).toEqual([
      [true, true],
      [true, true],
    ])
    time.now += HOUR_MS
    expect(await acceptedOf(record.id, old, key)).toEqual([
      [false, true],
      [false, true],
    ])
    for (const accountId of [DEFAULT_ACCOUNT, stranger])
      await expect(here.import({ ...label, accountId, key: old })).rejects.toMatchObject({
        kind: 'conflict',
      })
    await here.flush()
    expect(
      await store.keys.findSome([{ accountId: DEFAULT_ACCOUNT, id: record.id }]),
    ).toMatchObject([{ lastUsedAt: 5_000 }])
  })

  test('an old key cannot be imported or bootstrapped, before or after its end', async () => {
    const row = { id: stranger, name: 'Stranger', created_at: 1, plan: null }
    await store.database.insertInto('accounts').values(row).execute()
    const { record, key: old } = await here.create(label)
    await here.rotate(DEFAULT_ACCOUNT, record.id, HOUR_MS)
    for (const _ of ['before', 'after']) {
      await expect(there.import({ ...label, accountId: stranger, key: old })).rejects.toMatchObject(
        {
          kind: 'conflict',
        },
      )
      time.now += 2 * HOUR_MS
    }
    await here.delete(DEFAULT_ACCOUNT, record.id)
    expect(await here.ensureFirst(label, old)).toMatchObject({ reason: 'deleted' })
    expect(await acceptedOf(record.id, old)).toEqual([[false], [false]])
  })

  test('a key within its grace period is rotated again only at once, which ends all earlier secrets', async () => {
    const { record, key: first } = await here.create(label)
    const rotate = (node: KeyRegistry, ms: number) => node.rotate(DEFAULT_ACCOUNT, record.id, ms)
    const outcomes = await Promise.allSettled([rotate(here, HOUR_MS), rotate(there, HOUR_MS)])
    const [made, ...others] = outcomes.flatMap((each) =>
      each.status === 'fulfilled' ? [each.value] : [],
    )
    if (made === undefined) throw new Error('neither rotated it')
    expect(others).toEqual([])
    await here.follow([{ accountId: DEFAULT_ACCOUNT, id: record.id }])
    expect(await acceptedOf(record.id, first, made.key)).toEqual([
      [true, true],
      [true, true],
    ])
    await expect(rotate(there, HOUR_MS)).rejects.toMatchObject({ kind: 'conflict' })
    const { key: last } = await rotate(here, 0)
    expect(await acceptedOf(record.id, first, made.key, last)).toEqual([
      [false, false, true],
      [false, false, true],
    ])
    expect(here.list(DEFAULT_ACCOUNT)).toMatchObject([{ previous: null }])
    time.now += HOUR_MS
    expect((await rotate(here, HOUR_MS)).record.previous?.maskedPrefix).toBeDefined()
  })

  test('a grace period of a millisecond is one, and over when it ends', async () => {
    const { record, key: old } = await here.create(label)
    const rotate = () => here.rotate(DEFAULT_ACCOUNT, record.id, 1)
    const { record: rotated, key } = await rotate()
    expect(rotated.previous).toMatchObject({ endsAt: time.now + 1 })
    expect(await acceptedOf(record.id, old, key)).toEqual([
      [true, true],
      [true, true],
    ])
    await expect(rotate()).rejects.toMatchObject({ kind: 'conflict' })
    time.now += 1
    expect((await rotate()).record.previous).toMatchObject({ endsAt: time.now + 1 })
  })

  test('an old key does not outlive the expiry or the deletion of its key', async () => {
    const { record, key: old } = await here.create({ ...label, expiresAt: time.now + HOUR_MS })
    const { key } = await here.rotate(DEFAULT_ACCOUNT, record.id, 2 * HOUR_MS)
    time.now += HOUR_MS
    expect(await acceptedOf(record.id, old, key)).toEqual([
      [false, false],
      [false, false],
    ])
    const other = await here.create(label)
    const { key: renewed } = await here.rotate(DEFAULT_ACCOUNT, other.record.id, HOUR_MS)
    await here.delete(DEFAULT_ACCOUNT, other.record.id)
    expect(await acceptedOf(other.record.id, other.key, renewed)).toEqual([
      [false, false],
      [false, false],
    ])
  })

  test("another account's key cannot be changed or rotated", async () => {
    const { record, key } = await here.create(label)
    for (const work of [
      () => here.update(stranger, record.id, { name: 'mine' }),
      () => here.rotate(stranger, record.id, 0),
    ])
      await expect(work()).rejects.toMatchObject({ kind: 'not_found' })
    expect(await acceptedOf(record.id, key)).toEqual([[true], [true]])
  })
})

import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type ApiKey, generateApiKey, hashApiKey } from '../core/api-key.ts'
import { GatewayError } from '../core/errors.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { KeyRegistry } from './key-registry.ts'

const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 5 }
const limitsOf = () => limits
const label = { accountId: DEFAULT_ACCOUNT, name: 'production' }
const stranger = 'acct_stranger' as AccountId

let store: Store
let registry: KeyRegistry
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    registry = await KeyRegistry.load({ keys: store.keys, limitsOf })
    const row = { id: stranger, name: 'Stranger', created_at: 1, plan: null }
    await store.database.insertInto('accounts').values(row).execute()
  })
  afterEach(async () => {
    await registry.close()
    await store.close()
    await database.remove()
  })

  async function errorKindOf(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => new Error('nothing was thrown'),
      (thrown: unknown) => thrown,
    )
    return error instanceof GatewayError ? error.kind : String(error)
  }

  test('a created key is accepted at once, and by the next process', async () => {
    const { record, key } = await registry.create(label)
    const owner = hashApiKey(key.reveal())
    const caller = { accountId: DEFAULT_ACCOUNT, keyId: record.id, limits, owner }
    expect(key.reveal()).toMatch(/^sk-svc-[0-9a-f]{64}$/)
    expect(registry.find(hashApiKey(key.reveal()))).toEqual(caller)
    const next = await KeyRegistry.load({ keys: store.keys, limitsOf })
    expect(next.find(hashApiKey(key.reveal()))).toEqual(caller)
    await next.close()
  })

  test('the stored form of a key shows at most four of its characters', async () => {
    const { record, key } = await registry.create(label)
    const kept = JSON.stringify([registry.list(DEFAULT_ACCOUNT), await store.keys.loadAll()])
    expect(kept).not.toContain(key.reveal())
    expect(record.maskedPrefix).toBe(`${key.reveal().slice(0, 11)}…`)
  })

  test('keys of all three formats can be imported, once each', async () => {
    for (const value of [
      generateApiKey().reveal(),
      'svc_0123456789abcdef',
      'legacy_0123456789abcdef',
    ]) {
      const record = await registry.import({ ...label, key: new Secret(value) })
      expect(registry.find(hashApiKey(value))?.keyId).toBe(record.id)
      expect(await errorKindOf(registry.import({ ...label, key: new Secret(value) }))).toBe(
        'conflict',
      )
      expect(
        await errorKindOf(
          registry.import({ ...label, accountId: stranger, key: new Secret(value) }),
        ),
      ).toBe('conflict')
    }
  })

  test('two imports of one key at the same time leave one', async () => {
    const key = new Secret('svc_0123456789abcdef')
    const outcomes = await Promise.allSettled([
      registry.import({ ...label, key }),
      registry.import({ ...label, key }),
    ])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(registry.list(DEFAULT_ACCOUNT)).toHaveLength(1)
  })

  test('a malformed key is not imported, and the message does not repeat it', async () => {
    for (const value of [
      '',
      'hello',
      'sk-svc-123',
      'sk-proj-abcdefghijklmnop',
      'svc_ with space',
      `svc_${'x'.repeat(600)}`,
    ]) {
      const error: unknown = await registry
        .import({ ...label, key: new Secret(value) })
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: 'invalid_request', param: 'key' })
      if (value.length > 5) expect(String(error)).not.toContain(value)
    }
  })

  test('a deleted key is refused as soon as the deletion resolves, here and after a restart', async () => {
    const { record, key } = await registry.create(label)
    expect(await registry.delete(DEFAULT_ACCOUNT, record.id)).toBe(true)
    expect(registry.find(hashApiKey(key.reveal()))).toBeUndefined()
    expect(registry.list(DEFAULT_ACCOUNT)).toEqual([])
    expect(await store.keys.loadAll()).toEqual([])
    expect(await registry.delete(DEFAULT_ACCOUNT, record.id)).toBe(false)
  })

  test("another account's key cannot be seen or deleted", async () => {
    const { record, key } = await registry.create(label)
    expect(registry.list(stranger)).toEqual([])
    expect(await registry.delete(stranger, record.id)).toBe(false)
    expect(registry.find(hashApiKey(key.reveal()))).toBeDefined()
  })

  test('a key that the store failed to delete stays in force', async () => {
    const keys = Object.assign(Object.create(store.keys) as typeof store.keys, {
      loadAll: () => store.keys.loadAll(),
      findSome: async () => [],
      findDeletedNames: async () => new Map(),
      delete: async () => {
        throw new Error('disk on fire')
      },
    })
    const { record, key } = await registry.create(label)
    const failing = await KeyRegistry.load({ keys, limitsOf })
    expect(failing.delete(DEFAULT_ACCOUNT, record.id)).rejects.toThrow('disk on fire')
    expect(failing.find(hashApiKey(key.reveal()))).toBeDefined()
    await failing.close()
  })

  test('a key imported again while it is deleted stays deleted', async () => {
    const key = new Secret('svc_0123456789abcdef')
    const first = await registry.import({ ...label, key })
    const racing = Array.from({ length: 4 }, () => errorKindOf(registry.import({ ...label, key })))
    const deleted = registry.delete(DEFAULT_ACCOUNT, first.id)
    const late = Array.from({ length: 4 }, (_, index) =>
      errorKindOf(
        registry.import({ name: 'again', accountId: index % 2 ? stranger : DEFAULT_ACCOUNT, key }),
      ),
    )
    expect(await deleted).toBe(true)
    expect(new Set(await Promise.all([...racing, ...late]))).toEqual(new Set(['conflict']))
    expect(registry.find(hashApiKey(key.reveal()))).toBeUndefined()
    expect(await store.keys.loadAll()).toEqual([])
  })

  test('a changed key keeps the later last use of node and store', async () => {
    const { record } = await registry.create(label)
    const lastUse = () => registry.list(DEFAULT_ACCOUNT)[0]?.lastUsedAt
    const changeElsewhere = async (name: string, usedAt: number) => {
      const change = { name, last_used_at: usedAt }
      await store.database.updateTable('api_keys').set(change).execute()
      await registry.followAll()
    }
    registry.touch(record.id, 5_000)
    await changeElsewhere('first', 9_000)
    expect(lastUse()).toBe(9_000)
    await changeElsewhere('second', 1)
    expect(lastUse()).toBe(9_000)
  })

  test("an update without changes reports this node's last use of a key", async () => {
    const { record } = await registry.create(label)
    const change = { name: label.name }
    expect((await registry.update(DEFAULT_ACCOUNT, record.id, change)).lastUsedAt).toBeNull()
    registry.touch(record.id, 5_000)
    expect((await registry.update(DEFAULT_ACCOUNT, record.id, change)).lastUsedAt).toBe(5_000)
  })

  describe('a deleted key', () => {
    const key = new Secret('svc_0123456789abcdef')
    const importBy = (accountId: AccountId) =>
      errorKindOf(registry.import({ name: 'again', accountId, key }))

    test('stays deleted if an older version or an operator deleted its row', async () => {
      await registry.import({ ...label, key })
      await store.database.deleteFrom('api_keys').execute()
      await registry.followAll()
      expect(await importBy(DEFAULT_ACCOUNT)).toBe('conflict')
      expect(await store.keys.loadAll()).toEqual([])
    })

    test('comes back with its row if an older store lacked it for a while', async () => {
      const { record, key: made } = await registry.create(label)
      const isAccepted = () => registry.find(hashApiKey(made.reveal())) !== undefined
      const [row] = await store.database.selectFrom('api_keys').selectAll().execute()
      if (row === undefined) throw new Error('it was not written')
      await store.database.deleteFrom('api_keys').execute()
      await registry.followAll(true)
      expect([isAccepted(), registry.list(DEFAULT_ACCOUNT)]).toEqual([false, []])
      await store.database.insertInto('api_keys').values(row).execute()
      await registry.followAll()
      expect(isAccepted()).toBe(true)
      expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ id: record.id }])
    })

    test('stays deleted, however often it is deleted and refused again', async () => {
      const { id } = await registry.import({ ...label, key })
      expect(await registry.delete(DEFAULT_ACCOUNT, id)).toBe(true)
      for (let round = 0; round < 3; round += 1) {
        expect(await importBy(DEFAULT_ACCOUNT)).toBe('conflict')
        expect(await registry.delete(DEFAULT_ACCOUNT, id)).toBe(false)
      }
    })

    test('stays deleted if the store is read in an earlier state, as from a replica that lags', async () => {
      const stale: ApiKey[] = []
      const keys = Object.assign(Object.create(store.keys) as typeof store.keys, {
        loadAll: async () => (stale.length > 0 ? stale : await store.keys.loadAll()),
        findSome: async () => stale,
        findDeletedNames: async () => new Map(),
        delete: async () => true,
      })
      const made = await Promise.all([1, 2, 3].map(() => registry.create(label)))
      const node = await KeyRegistry.load({ keys, limitsOf })
      stale.push(...(await store.keys.loadAll()))
      for (const { record } of made.slice(0, 2))
        expect(await node.delete(DEFAULT_ACCOUNT, record.id)).toBe(true)
      await node.followAll()
      const isAccepted = made.map((each) => node.find(hashApiKey(each.key.reveal())) !== undefined)
      expect(isAccepted).toEqual([false, false, true])
      await node.close()
    })

    test('is refused as the first key, on this node and on the next one to start', async () => {
      const { id } = await registry.import({ ...label, key })
      await registry.delete(DEFAULT_ACCOUNT, id)
      const next = await KeyRegistry.load({ keys: store.keys, limitsOf })
      for (const node of [registry, next, registry]) {
        expect(await node.ensureFirst(label, key)).toEqual({ type: 'refused', reason: 'deleted' })
        expect(node.find(hashApiKey(key.reveal()))).toBeUndefined()
      }
      await next.close()
    })
  })

  test("a first key of another account is refused, and the account's existing key is used instead", async () => {
    const key = new Secret('svc_0123456789abcdef')
    await registry.import({ ...label, accountId: stranger, key })
    expect(await registry.ensureFirst(label, key)).toEqual({ type: 'refused', reason: 'taken' })
    await registry.create(label)
    expect(await registry.ensureFirst(label, key)).toEqual({ type: 'there' })
  })

  test('last-used times show at once, never go back, and reach the store in one statement', async () => {
    const written: ReadonlyMap<KeyId, number>[] = []
    const keys = {
      loadAll: () => store.keys.loadAll(),
      findSome: async () => [],
      findDeletedNames: async () => new Map(),
      insert: (record: Parameters<typeof store.keys.insert>[0]) => store.keys.insert(record),
      change: async () => undefined,
      delete: (accountId: AccountId, keyId: KeyId) => store.keys.delete(accountId, keyId),
      insertFirst: async () => [],
      saveLastUsed: async (lastUsed: ReadonlyMap<KeyId, number>) => {
        written.push(lastUsed)
      },
    }
    const batching = await KeyRegistry.load({ keys, limitsOf })
    const a = (await batching.create(label)).record.id
    const b = (await batching.create(label)).record.id
    const gone = (await batching.create(label)).record.id
    for (const at of [1000, 3000, 2000]) batching.touch(a, at)
    batching.touch(b, 1)
    batching.touch(gone, 7)
    batching.touch('key_never' as KeyId, 9)
    await batching.delete(DEFAULT_ACCOUNT, gone)
    expect(new Map(batching.list(DEFAULT_ACCOUNT).map((key) => [key.id, key.lastUsedAt]))).toEqual(
      new Map([
        [a, 3000],
        [b, 1],
      ]),
    )
    await batching.flush()
    await batching.flush()
    await batching.close()
    expect(written).toEqual([
      new Map([
        [a, 3000],
        [b, 1],
      ]),
    ])
  })

  test('times are written at intervals', async () => {
    const { promise, resolve } = Promise.withResolvers<ReadonlyMap<KeyId, number>>()
    const keys = {
      loadAll: () => store.keys.loadAll(),
      findSome: async () => [],
      findDeletedNames: async () => new Map(),
      insert: async () => true,
      change: async () => undefined,
      delete: async () => true,
      insertFirst: async () => [],
      saveLastUsed: async (lastUsed: ReadonlyMap<KeyId, number>) => resolve(lastUsed),
    }
    const ticking = await KeyRegistry.load({ keys, limitsOf, flushIntervalMs: 1 })
    const { record } = await ticking.create(label)
    ticking.touch(record.id, 4242)
    expect(await promise).toEqual(new Map([[record.id, 4242]]))
    await ticking.close()
  })

  test.each([
    ['every five seconds', undefined, 5_000],
    ['as often as it is wanted', 700, 700],
  ])('times are written %s', async (_, flushIntervalMs, expectedMs) => {
    const { record } = await registry.create(label)
    // Jobs share a beat, and one that is under way goes by the machine's own clock.
    await registry.close()
    jest.useFakeTimers()
    try {
      let writes = 0
      const keys = {
        loadAll: async () => [record],
        findSome: async () => [],
        findDeletedNames: async () => new Map(),
        insert: async () => true,
        delete: async () => true,
        insertFirst: async () => [],
        change: async () => undefined,
        saveLastUsed: async () => {
          writes += 1
        },
      }
      const options = flushIntervalMs === undefined ? {} : { flushIntervalMs }
      const ticking = await KeyRegistry.load({ keys, limitsOf, ...options })
      for (const round of [1, 2]) {
        ticking.touch(record.id, round)
        jest.advanceTimersByTime(expectedMs - 1)
        expect(writes).toBe(round - 1)
        jest.advanceTimersByTime(1)
        expect(writes).toBe(round)
        // The write is done, and there is nothing new.
        await ticking.flush()
      }
      await ticking.close()
      jest.advanceTimersByTime(60_000)
      expect(writes).toBe(2)
    } finally {
      jest.useRealTimers()
    }
  })

  test('times that could not be written are reported, and written the next time', async () => {
    const { record } = await registry.create(label)
    let isBroken = true
    const failures: unknown[] = []
    const keys = {
      loadAll: () => store.keys.loadAll(),
      findSome: async () => [],
      findDeletedNames: async () => new Map(),
      insert: async () => true,
      change: async () => undefined,
      delete: async () => true,
      insertFirst: async () => [],
      saveLastUsed: async (lastUsed: ReadonlyMap<KeyId, number>) => {
        if (isBroken) throw new Error('disk on fire')
        await store.keys.saveLastUsed(lastUsed)
      },
    }
    const flaky = await KeyRegistry.load({
      keys,
      limitsOf,
      onFlushFailure: (error) => failures.push(error),
    })
    flaky.touch(record.id, 4242)
    await flaky.close()
    expect(failures).toHaveLength(1)
    isBroken = false
    await flaky.close()
    expect((await store.keys.loadAll())[0]?.lastUsedAt).toBe(4242)
  })

  test('an ephemeral key is accepted, never listed, never stored, and cannot be deleted or imported', async () => {
    const key = new Secret(`sk-svc-${'cd'.repeat(32)}`)
    const record = registry.addEphemeral(key, { ...label, name: 'command line' })
    expect(registry.find(hashApiKey(key.reveal()))?.keyId).toBe(record.id)
    registry.touch(record.id, 1)
    await registry.flush()
    expect(await registry.delete(DEFAULT_ACCOUNT, record.id)).toBe(false)
    expect(await errorKindOf(registry.import({ ...label, key }))).toBe('conflict')
    expect(registry.find(hashApiKey(key.reveal()))).toBeDefined()
    expect(registry.list(DEFAULT_ACCOUNT)).toEqual([])
    expect(await store.keys.loadAll()).toEqual([])
  })

  test('the first key is shown by the node that created it, and by no other', async () => {
    const other = await KeyRegistry.load({ keys: store.keys, limitsOf })
    const first = await registry.ensureFirst(label)
    if (first.type !== 'created') throw new Error('no key was created')
    expect(await other.ensureFirst(label)).toEqual({ type: 'there' })
    for (const each of [registry, other])
      expect(each.find(hashApiKey(first.key.reveal()))).toBeDefined()
    await other.close()
  })

  test('the check for a first key reads no other keys again', async () => {
    const other = await KeyRegistry.load({ keys: store.keys, limitsOf })
    const key = new Secret('svc_0123456789abcdef')
    await other.import({ ...label, accountId: stranger, key })
    let reads = 0
    const keys = Object.assign(Object.create(store.keys) as typeof store.keys, {
      loadAll: () => {
        reads += 1
        return store.keys.loadAll()
      },
      insertFirst: (...given: Parameters<typeof store.keys.insertFirst>) =>
        store.keys.insertFirst(...given),
    })
    const starting = await KeyRegistry.load({ keys, limitsOf })
    expect(await starting.ensureFirst(label, key)).toEqual({ type: 'refused', reason: 'taken' })
    const made = await other.create(label)
    expect(await starting.ensureFirst(label)).toEqual({ type: 'there' })
    expect(starting.find(hashApiKey(made.key.reveal()))).toBeDefined()
    expect(reads).toBe(1)
    await Promise.all([starting.close(), other.close()])
  })

  test('a given first key is imported, and not shown again', async () => {
    const given = new Secret('svc_0123456789')
    expect(await registry.ensureFirst(label, given)).toEqual({ type: 'there' })
    expect(registry.find(hashApiKey('svc_0123456789'))).toBeDefined()
  })

  test('keys of one moment are listed in one order, on every node and after every restart', async () => {
    const clock = { now: () => 1_000 }
    const making = await KeyRegistry.load({ keys: store.keys, limitsOf, clock })
    for (let index = 0; index < 8; index += 1) await making.create(label)
    const listed = making.list(DEFAULT_ACCOUNT).map(({ id }) => id)
    expect(listed).toEqual(listed.toSorted().toReversed())
    await making.close()
  })

  test('hashes that are names of built-in properties find nothing', () => {
    for (const hash of ['__proto__', 'constructor', 'toString', ''])
      expect(registry.find(hash)).toBeUndefined()
  })
})

test('a list reads the keys of its account alone, even after changes', async () => {
  let looks = 0
  const stored = (number: number, accountId: AccountId): ApiKey => ({
    id: `key_${number}` as KeyId,
    name: `key ${number}`,
    sha256: String(number).padStart(64, '0'),
    maskedPrefix: 'sk-svc-ab12…',
    createdAt: number,
    lastUsedAt: null,
    createdBy: null,
    expiresAt: null,
    previous: null,
    get accountId() {
      if (accountId === stranger) looks += 1
      return accountId
    },
  })
  let records = [stored(0, DEFAULT_ACCOUNT), stored(1, DEFAULT_ACCOUNT)]
  for (let number = 2; number < 1_000; number += 1) records.push(stored(number, stranger))
  const keys = {
    loadAll: async () => records,
    findSome: async () => [],
    findDeletedNames: async () => new Map(),
    insert: async () => true,
    insertFirst: async () => [],
    change: async () => undefined,
    delete: async () => true,
    saveLastUsed: async () => {},
  }
  const many = await KeyRegistry.load({ keys, limitsOf })
  const idsOf = (accountId: AccountId) => many.list(accountId).map(({ id }): string => id)
  looks = 0
  expect(idsOf(DEFAULT_ACCOUNT)).toEqual(['key_1', 'key_0'])
  expect(looks).toBe(0)
  records = [{ ...stored(1, DEFAULT_ACCOUNT), name: 'renamed' }, stored(2, stranger)]
  await many.followAll()
  expect(many.list(DEFAULT_ACCOUNT)).toMatchObject([{ id: 'key_1', name: 'renamed' }])
  expect(idsOf(stranger)).toEqual(['key_2'])
  await many.delete(DEFAULT_ACCOUNT, 'key_1' as KeyId)
  expect(idsOf(DEFAULT_ACCOUNT)).toEqual([])
  await many.close()
})

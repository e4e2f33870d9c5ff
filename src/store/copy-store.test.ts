import { describe, expect, test } from 'bun:test'
import { databases, withTestStore } from '../../test/support/databases.ts'
import { generateApiKey } from '../core/api-key.ts'
import { USUAL_GATE } from '../core/gate.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { KeyRegistry } from '../snapshots/key-registry.ts'
import { copyStore, StoreNotEmptyError, TABLES } from './copy-store.ts'
import { STEP_NOTES } from './migrations/newer-steps.ts'
import { openStore, type Store } from './open-store.ts'
import { readSums } from './usage/read-sums.fixture.ts'
import { UsageDeletedError } from './usage/usage-sources.ts'

const unlimited = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}

describe.each(databases)('to $name', (kind) => {
  test('every table is copied', async () => {
    await withTestStore(kind, async ({ database }) => {
      // What the schema has been through is the database's own.
      const tables = (await database.introspection.getTables()).map(({ name }) => name)
      // Messages of running nodes are of no use in another database, and its owner is written
      // when all is copied.
      const messages = [
        'change_counter',
        'changes',
        'nodes',
        'ended_calls',
        'installation',
        STEP_NOTES,
      ]
      expect(tables.filter((name) => !messages.includes(name)).sort()).toEqual([...TABLES].sort())
    })
  })

  test('usage is the same in the copy', async () => {
    const [source = kind] = databases
    const startedAt = Date.UTC(2026, 0, 5)
    const query = {
      fromMs: startedAt,
      toMs: startedAt + 3_600_000,
      interval: 'all',
      groupBy: null,
    } as const
    const accounts = ['acct_1', 'acct_2', 'acct_"3\\'] as readonly string[] as readonly AccountId[]
    await withTestStore(source, async (from) => {
      const call = (accountId: AccountId) =>
        createCallRecord({ accountId, startedAt, durationMs: 40 })
      await from.calls.insertMany([...accounts, ...accounts].map(call))
      await from.calls.insertMany(accounts.map(call))
      await withTestStore(kind, async (to) => {
        await copyStore(from, to)
        for (const account of accounts) {
          const expected = await readSums(from.usage, account, query)
          expect(expected).toMatchObject([{ calls: 3 }])
          expect(await readSums(to.usage, account, query)).toEqual(expected)
        }
      })
    })
  })

  test('a deleted key is deleted in the copy too', async () => {
    const [source = kind] = databases
    const key = { accountId: DEFAULT_ACCOUNT, name: 'once', key: generateApiKey() }
    const load = (store: Store) => KeyRegistry.load({ keys: store.keys, limitsOf: () => unlimited })
    await withTestStore(source, async (from) => {
      const here = await load(from)
      const { id } = await here.import(key)
      await here.delete(DEFAULT_ACCOUNT, id)
      await here.close()
      await withTestStore(kind, async (to) => {
        await copyStore(from, to)
        const there = await load(to)
        await expect(there.import(key)).rejects.toThrow('was deleted')
        expect(await there.ensureFirst(key, key.key)).toMatchObject({ reason: 'deleted' })
        await there.close()
      })
    })
  })

  test('the progress of a copy is reported, table by table', async () => {
    const [source = kind] = databases
    await withTestStore(source, async (from) => {
      const others = {
        account_id: DEFAULT_ACCOUNT,
        url: 'https://a.example',
        sealed_secret: '',
        events: '[]',
      }
      const times = { active: 1, created_at: 1, updated_at: 1 }
      const rows = Array.from({ length: 1_100 }, (_, index) => ({
        id: `hook_${index}`,
        ...others,
        ...times,
      }))
      await from.database.insertInto('webhooks').values(rows).execute()
      await withTestStore(kind, async (to) => {
        const told: string[] = []
        await copyStore(from, to, {
          onProgress: ({ table, rows }) => told.push(`${table} ${rows}`),
        })
        expect(told.filter((each) => each.startsWith('webhooks'))).toEqual([
          'webhooks 500',
          'webhooks 1000',
          'webhooks 1100',
        ])
      })
    })
  })

  test('a database that holds any rows is left unchanged', async () => {
    const [source = kind] = databases
    await withTestStore(source, async (from) => {
      await withTestStore(kind, async (to) => {
        await to.gates.insert({
          accountId: DEFAULT_ACCOUNT,
          id: 'there' as GateId,
          displayName: 'there',
          description: '',
          targets: [],
          ...USUAL_GATE,
          timeoutMs: null,
          maxRetries: 0,
          createdAt: 1,
          updatedAt: 1,
        })
        await expect(copyStore(from, to)).rejects.toBeInstanceOf(StoreNotEmptyError)
        expect(await to.gates.loadAll()).toHaveLength(1)
        expect(await to.accounts.find(DEFAULT_ACCOUNT)).toBeDefined()
      })
    })
  })

  test('of two copies at once, one is refused because of the other', async () => {
    await withTestStore(kind, async (from) => {
      await from.calls.insertMany([createCallRecord()])
      await withTestStore(kind, async (to) => {
        const copies = await Promise.allSettled([copyStore(from, to), copyStore(from, to)])
        const refused = copies.flatMap((copy) => (copy.status === 'rejected' ? [copy.reason] : []))
        expect(refused).toEqual([expect.any(StoreNotEmptyError)])
      })
    })
  })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('to $name', (kind) => {
  test('the copied calls have statistics at once, by which a page of the log is planned', async () => {
    const [source = kind] = databases
    await withTestStore(source, async (from) => {
      await from.calls.insertMany(Array.from({ length: 300 }, () => createCallRecord()))
      const created = await kind.create({ own: true })
      const to = await openStore(created.location)
      try {
        await copyStore(from, to)
        const counted = "SELECT reltuples::int AS calls FROM pg_class WHERE oid = 'calls'::regclass"
        expect(await created.run(counted)).toEqual([{ calls: 300 }])
      } finally {
        await to.close()
        await created.remove()
      }
    })
  })
})

describe.each(databases)('from $name', (kind) => {
  test('every row arrives unchanged in the other kind, in pieces', async () => {
    const other = databases.find(({ name }) => name !== kind.name) ?? kind
    await withTestStore(kind, async (from) => {
      const registry = await KeyRegistry.load({ keys: from.keys, limitsOf: () => unlimited })
      await registry.create({
        accountId: DEFAULT_ACCOUNT,
        name: 'expires',
        expiresAt: 9_000_000_000_000,
      })
      await registry.close()
      const calls = Array.from({ length: 1_001 }, (_, index) =>
        createCallRecord({ startedAt: index }),
      )
      await from.calls.insertMany(calls)
      await withTestStore(other, async (to) => {
        const copied = await copyStore(from, to)
        expect(copied.find(({ table }) => table === 'calls')).toEqual({
          table: 'calls',
          rows: 1_001,
        })
        for (const table of TABLES) {
          const rowsOf = async ({ database }: Store) =>
            (await database.selectFrom(table).selectAll().execute())
              .map((row) => JSON.stringify(row))
              .sort()
          expect([table, await rowsOf(to)]).toEqual([table, await rowsOf(from)])
        }
      })
    })
  })

  test('deleted hours stay deleted in the other kind, and a late call counts in its day', async () => {
    const other = databases.find(({ name }) => name !== kind.name) ?? kind
    const day = Date.UTC(2026, 2, 3)
    const callAt = (hour: number) => createCallRecord({ startedAt: day + hour * 3_600_000 })
    const ask = async ({ usage }: Store, hours: readonly [from: number, to: number]) => {
      const [fromMs, toMs] = hours.map((hour) => day + hour * 3_600_000) as [number, number]
      return await usage.readRange(DEFAULT_ACCOUNT, {
        fromMs,
        toMs,
        interval: 'all',
        groupBy: null,
      })
    }
    await withTestStore(kind, async (from) => {
      await from.calls.insertMany([callAt(3), callAt(9), callAt(15)])
      await from.usage.deleteHoursBefore(day + 86_400_000)
      await withTestStore(other, async (to) => {
        await copyStore(from, to)
        expect(await ask(to, [8, 10])).toEqual(await ask(from, [0, 24]))
        const hour = {
          fromMs: day,
          toMs: day + 3_600_000,
          interval: 'hour',
          groupBy: null,
        } as const
        await expect(readSums(to.usage, DEFAULT_ACCOUNT, hour)).rejects.toBeInstanceOf(
          UsageDeletedError,
        )
        await to.calls.insertMany([callAt(20)])
        expect((await ask(to, [8, 10])).sums).toMatchObject([{ calls: 4 }])
      })
    })
  })
})

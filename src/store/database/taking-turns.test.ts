/**
 * Several stores on one Postgres, as several nodes have: what two do at once, both have done. (A
 * file has one process.)
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { CallRecord } from '../../core/call.ts'
import {
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
  type UserId,
} from '../../core/ids.ts'
import { openStore, type Store } from '../open-store.ts'
import { readSums } from '../usage/read-sums.fixture.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')
const HOUR = 3_600_000
const NODES = [0, 1, 2]

const places = databases
  .filter(({ name }) => name === 'Postgres')
  .flatMap((kind) => [
    { kind, called: 'Postgres', isStricter: false },
    { kind, called: 'a Postgres whose transactions are serializable by default', isStricter: true },
  ])

/** As some operators have all of theirs. */
const STRICTER = `DO $$ BEGIN EXECUTE format(
  'ALTER DATABASE %I SET default_transaction_isolation = ''serializable''', current_database()
); END $$`

describe.each(places)('on $called', ({ kind, isStricter }) => {
  let database: TestDatabase
  let stores: Store[]
  beforeEach(async () => {
    database = await kind.create({ own: isStricter })
    if (isStricter) await database.run(STRICTER)
    stores = []
    for (const _node of NODES) stores.push(await openStore(database.location))
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    await database.remove()
  })

  const call = (id: string, durationMs: number): CallRecord => ({
    id: id as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'a' as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'p/m',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: NOON,
    firstByteMs: 1,
    durationMs,
    usage: null,
    credential: 'own',
  })

  const read = async (store: Store) => {
    const range = { fromMs: NOON, toMs: NOON + HOUR, interval: 'day', groupBy: null } as const
    return (await readSums(store.usage, DEFAULT_ACCOUNT, range))[0]
  }

  test('sums that several nodes add to the same hours hold all of their calls and times', async () => {
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        stores.map(async (store, node) => {
          await store.calls.insertMany([call(`req_${round}_${node}`, 10 ** (node + 1))])
        }),
      )
    }
    for (const store of stores) {
      const sum = await read(store)
      expect(sum).toMatchObject({ calls: 15, unreported: 15 })
      // A third of them took ten milliseconds, a third a hundred, a third a thousand.
      expect(sum?.duration.p50).toBeWithin(98, 103)
      expect(sum?.duration.p99).toBeWithin(980, 1021)
    }
    expect(await database.run('SELECT calls FROM usage_days')).toEqual([{ calls: 15 }])
  })

  const usage = { inputTokens: 2, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

  test('a node that starts counts every call once, even while others add to the sums', async () => {
    const [starting, ...others] = stores
    const countOf = async () => {
      const sums = (await starting?.usageSums.since({ fromMs: 0 })) ?? []
      return sums.reduce((total, { tokens }) => total + tokens, 0)
    }
    for (let round = 1; round <= 30; round += 1) {
      const before = 3 * others.length * (round - 1)
      const [first, second] = await Promise.all([
        countOf(),
        countOf(),
        ...others.map((other, node) =>
          other.calls.insertMany([{ ...call(`req_${round}_${node}`, 5), usage }]),
        ),
      ])
      // The calls of this round may be there or not, each of them whole.
      for (const count of [first, second]) expect((Number(count) - before) % 3).toBe(0)
      for (const count of [first, second])
        expect(Number(count)).toBeWithin(before, before + 3 * others.length + 1)
      expect(await countOf()).toBe(before + 3 * others.length)
    }
  })

  test('the first hour of budgets keeps its usage when several nodes delete calls at once', async () => {
    const budgetIds = Array.from({ length: 30 }, (_, index) => `bud_${index}`)
    for (const id of budgetIds)
      await stores[0]?.budgets.insert({
        accountId: DEFAULT_ACCOUNT,
        id,
        name: id,
        scope: { type: 'key', keyId: 'key_1' as KeyId },
        limit: { type: 'tokens', tokens: 1000 },
        period: 'total',
        unpriced: 'allow',
        alertAt: [],
        createdAt: NOON + 1,
        updatedAt: NOON + 1,
      })
    const calls = [2, 3, 4].map((after) => ({
      ...call(`req_${after}`, 5),
      usage,
      startedAt: NOON + after,
    }))
    await stores[0]?.calls.insertMany(calls)
    await Promise.all(
      stores.map(async (store) => {
        await store.budgetBeginnings.keep(NOON + HOUR)
        await store.calls.deleteBefore(NOON + HOUR, 200)
      }),
    )
    const kept = await stores[0]?.budgetBeginnings.load()
    expect([...(kept?.values() ?? [])].map(({ tokens }) => tokens)).toEqual(budgetIds.map(() => 9))
  })

  test('the same batch from several nodes at once is counted once', async () => {
    const batch = Array.from({ length: 100 }, (_, index) => call(`req_${index}`, 5))
    await Promise.all(stores.map((store) => store.calls.insertMany(batch)))
    for (const store of stores) expect(await read(store)).toMatchObject({ calls: 100 })
  })

  test('one of several first users on several nodes at once owns the account', async () => {
    const refusals = await Promise.all(
      stores.map((store, node) =>
        store.users.create(
          {
            id: `user_${node}` as UserId,
            name: 'x',
            email: `${node}@example.test`,
            passwordHash: 'x',
          },
          { type: 'first', accountId: DEFAULT_ACCOUNT },
          NOON,
        ),
      ),
    )
    expect(refusals.toSorted()).toEqual(['not-first', 'not-first', undefined] as never)
  })

  test('audit rows of concurrent changes form a chain: each begins with the state that another left', async () => {
    const [first] = stores
    if (first === undefined) return
    const names = ['one', 'two', 'three', 'four', 'five', 'six']
    await Promise.all(
      names.map((name, index) => stores[index % 3]?.accounts.rename(DEFAULT_ACCOUNT, name)),
    )
    const rows = await first.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 10 })
    const nameOf = (form: unknown) => (form as { name: string }).name
    // A chain: each begins with what another one has left.
    const before = rows.map((row) => nameOf(row.before)).sort()
    const after = rows.map((row) => nameOf(row.after))
    const last = nameOf((await first.accounts.find(DEFAULT_ACCOUNT)) as unknown)
    expect(before).toEqual([...after.filter((name) => name !== last), 'Default account'].sort())
  })
})

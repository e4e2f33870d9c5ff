/** Calls and the sums of their hours and days are stored together, wherever that is cut short. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Kysely, KyselyPlugin } from 'kysely'
import { boundToTest } from '../../../test/support/bound-to-test.ts'
import { IS_LONG } from '../../../test/support/chaos-form.ts'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { watchStatements } from '../../../test/support/watched-statements.ts'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import { openStore } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { LatencyHistogram, toShortForm } from './latency-histogram.ts'
import { readSums } from './read-sums.fixture.ts'
import { UsageStore } from './usage.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')
const HOUR = 3_600_000
/** More than a commit of SQLite takes at first. */
const CALLS = 300
const ACCOUNTS = 40

let created: TestDatabase
let database: Kysely<Schema>

/** Calls of neighbouring accounts, hours, keys and gates, in no order. */
function callsOf(first: number, count = CALLS): readonly CallRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index
    return createCallRecord({
      id: `req_${String(number).padStart(6, '0')}` as CallId,
      accountId: `acct_${(number * 17) % ACCOUNTS}` as AccountId,
      gateId: `gate-${number % 2}` as GateId,
      keyId: `key_${number % 3}` as KeyId,
      startedAt: NOON + (number % 14) * HOUR,
      durationMs: 10 * (1 + (number % 5)),
    })
  })
}

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  async function countAll(of = database) {
    const sums: Record<string, number> = {}
    for (const table of ['usage_hours', 'usage_days'] as const) {
      const row = await of
        .selectFrom(table)
        .select((eb) => eb.fn.sum<number>('calls').as('calls'))
        .executeTakeFirstOrThrow()
      sums[table] = Number(row.calls)
    }
    const { calls } = await of
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll<number>().as('calls'))
      .executeTakeFirstOrThrow()
    return { ...sums, calls: Number(calls) }
  }

  const all = (calls: number) => ({ usage_hours: calls, usage_days: calls, calls })

  test('calls and their sums are stored together or not at all', async () => {
    const own = await kind.create({ own: true })
    const changed = await openDatabase(own.location)
    try {
      const calls = new CallTableStore(changed)
      await changed.schema.alterTable('usage_days').renameTo('elsewhere').execute()
      await expect(calls.insertMany(callsOf(1, 1))).rejects.toThrow()
      await changed.schema.alterTable('elsewhere').renameTo('usage_days').execute()
      expect(await countAll(changed)).toEqual(all(0))
      await calls.insertMany(callsOf(1, 1))
      // One of them is there already, and one comes twice.
      await calls.insertMany([...callsOf(1, 3), ...callsOf(2, 1)])
      expect(await countAll(changed)).toEqual(all(3))
    } finally {
      await changed.destroy()
      await own.remove()
    }
  })

  test('a batch that is cut short after any statement and sent again counts once', async () => {
    // A batch is many more statements on SQLite.
    const atMost = kind.name === 'SQLite' ? 7 : 1
    const cutEach = IS_LONG ? 1 : atMost
    let [first, rounds] = [0, 0]
    for (let [statements, isWhole] = [1, false]; !isWhole; statements += cutEach) {
      const batch = callsOf(first)
      // A part of it was there before.
      await new CallTableStore(database).insertMany(batch.slice(40, 60))
      isWhole = await new CallTableStore(failAfter(database, statements)).insertMany(batch).then(
        () => true,
        (error: unknown) => {
          if (error !== cut) throw error
          return false
        },
      )
      const { calls } = await countAll()
      expect(await countAll()).toEqual(all(calls))
      first += CALLS
      rounds += 1
      await new CallTableStore(database).insertMany(batch)
      expect(await countAll()).toEqual(all(first))
    }
    expect(rounds).toBeGreaterThan(5)
    const perHour = await database
      .selectFrom('usage_hours')
      .select((eb) => ['starts_at', eb.fn.sum<number>('calls').as('calls')])
      .groupBy('starts_at')
      .orderBy('starts_at')
      .execute()
    const expected = Map.groupBy(callsOf(0, first), ({ startedAt }) => startedAt)
    expect(perHour.map(({ starts_at, calls }) => [starts_at, Number(calls)])).toEqual(
      [...expected].map(([startedAt, calls]) => [startedAt, calls.length]).sort(),
    )
  })

  test('a corrected cost is in hours and days, and in no other sum', async () => {
    const calls = new CallTableStore(database)
    const batch = callsOf(0, 30).map((call) => ({ ...call, accountId: 'acct_1' as AccountId }))
    await calls.insertMany(batch)
    const ids = batch.map(({ id }) => id)
    const corrected = await calls.correctCosts('acct_1' as AccountId, {
      ...{ name: 'all', filter: {} },
      recompute: ({ id }) => ({
        ...{ nanoUsd: 100 + ids.indexOf(id), status: 'exact', source: 'test@2' },
      }),
    })
    expect(corrected).toBe(30)
    expect(await countAll()).toEqual(all(30))
    for (const table of ['usage_hours', 'usage_days'] as const) {
      const { cost } = await database
        .selectFrom(table)
        .select((eb) => eb.fn.sum<number>('cost_nano_usd').as('cost'))
        .executeTakeFirstOrThrow()
      expect(Number(cost)).toBe(30 * 100 + (29 * 30) / 2)
    }
  })

  test('rows are told apart by their whole ids, whatever these hold', async () => {
    const odd = ['a', 'a\n', 'a\nb', '\na', 'a|b', '\\', 'é\u{1F600}', "'"] as readonly string[]
    const batch = odd.flatMap((gate) =>
      odd.map((target) => createCallRecord({ gateId: gate as GateId, target, startedAt: NOON })),
    )
    await new CallTableStore(database).insertMany(batch)
    await new CallTableStore(database).insertMany(
      batch.map((call) => ({ ...call, id: createCallRecord().id })),
    )
    const rows = await database
      .selectFrom('usage_days')
      .select(['gate_id', 'target', 'calls'])
      .execute()
    expect(new Set(rows.map((row) => JSON.stringify([row.gate_id, row.target]))).size).toBe(64)
    expect(new Set(rows.map(({ calls }) => calls))).toEqual(new Set([2]))
  })

  test('histograms are joined while they are short, and then each bucket stands once', async () => {
    const calls = new CallTableStore(database)
    const call = createCallRecord({ startedAt: NOON })
    const [BUCKETS, ROUNDS] = [40, 60]
    const [durations, firstBytes] = [new LatencyHistogram(), new LatencyHistogram()]
    let longest = 0
    let hour = { calls: 0, durations: '', first_bytes: '' }
    for (let round = 0; round < ROUNDS; round += 1) {
      // One, or one of each bucket.
      const times = Array.from({ length: round % 2 === 0 ? 1 : BUCKETS }, (_, index) =>
        Math.round(1.3 ** ((round + index) % BUCKETS)),
      )
      for (const time of times) durations.add(10 * time)
      for (const time of times) firstBytes.add(5 * time)
      await calls.insertMany(
        times.map((time) => ({
          ...call,
          id: createCallRecord().id,
          durationMs: 10 * time,
          firstByteMs: 5 * time,
        })),
      )
      hour = await database
        .selectFrom('usage_hours')
        .select(['calls', 'durations', 'first_bytes'])
        .executeTakeFirstOrThrow()
      longest = Math.max(longest, hour.durations.length + hour.first_bytes.length)
    }
    expect(longest).toBeWithin(300, 701)
    expect(hour.calls).toBe(durations.total)
    expect(toShortForm(hour.durations)).toBe(durations.encodeShort())
    expect(toShortForm(hour.first_bytes)).toBe(firstBytes.encodeShort())
    const [read] = await readSums(new UsageStore(database), call.accountId, {
      fromMs: NOON,
      toMs: NOON + HOUR,
      interval: 'all',
      groupBy: null,
    })
    expect(read?.duration.p50).toBe(durations.percentile(0.5))
    expect(read?.firstByte.p99).toBe(firstBytes.percentile(0.99))
  })

  test('other work runs between few statements', async () => {
    const watched = watchStatements(database)
    await new CallTableStore(watched.database).insertMany(callsOf(0, 2_000))
    expect(watched.mostInOneTurn).toBeLessThanOrEqual(8)
    expect(watched.mostRows).toBeLessThanOrEqual(64)
  })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('nodes on one $name', (kind) => {
  test('that add to the same rows in other orders never wait for each other', async () => {
    created = await kind.create()
    const stores = await Promise.all([1, 2, 3].map(() => openStore(created.location)))
    const ROUNDS = IS_LONG ? 100 : 12
    try {
      await Promise.all(
        stores.map(async ({ calls }, node) => {
          for (let round = 0; round < ROUNDS; round += 1) {
            const batch = callsOf((node * ROUNDS + round) * CALLS)
            await calls.insertMany(node === 1 ? batch.toReversed() : batch)
            // Sent again by another node, as a folder of a node that was killed is.
            if (round % 4 === 0) await calls.insertMany(batch)
            await stores[node]?.calls.correctCosts('acct_0' as AccountId, {
              ...{ name: 'all', filter: {} },
              recompute: () => ({ nanoUsd: 5, status: 'exact', source: 'test' }),
            })
          }
        }),
      )
      const expected = 3 * ROUNDS * CALLS
      for (const table of ['usage_hours', 'usage_days'])
        expect(await created.run(`SELECT SUM(calls)::int AS calls FROM ${table}`)).toEqual([
          { calls: expected },
        ])
    } finally {
      await Promise.all(stores.map((store) => store.close()))
      await created.remove()
    }
  })
})

test('sums after SIGKILL are those of the stored calls', async () => {
  const [kind] = databases
  const file = await kind?.create()
  if (file === undefined || !('path' in file.location)) throw new Error('It is a file.')
  const of = await openDatabase(file.location)
  try {
    const query = { fromMs: 0, toMs: HOUR, interval: 'all', groupBy: null } as const
    for (const batches of [1, 9, 4, 17]) {
      await killAfter(file.location.path, batches)
      const rows = await of
        .selectFrom('calls')
        .select((eb) => ['account_id', eb.fn.countAll<number>().as('calls')])
        .groupBy('account_id')
        .execute()
      expect(rows).toHaveLength(90)
      const usage = new UsageStore(of)
      for (const { account_id, calls } of rows)
        for (const toMs of [HOUR, 24 * HOUR])
          expect(await readSums(usage, account_id, { ...query, toMs })).toMatchObject([{ calls }])
    }
  } finally {
    await of.destroy()
    await file.remove()
  }
})

const cut = new Error('cut short')

/** As a process that is killed after so many statements: its transaction is rolled back. */
function failAfter(watched: Kysely<Schema>, statements: number): Kysely<Schema> {
  let made = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      made += 1
      if (made >= statements) throw cut
      return result
    },
  }
  return watched.withPlugin(plugin)
}

/** A process that writes, killed once it has stored so many batches. */
async function killAfter(path: string, batches: number): Promise<void> {
  const program = join(import.meta.dir, 'call-writer.fixture.ts')
  const writer = Bun.spawn(boundToTest([process.execPath, program, path]), {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let stored = 0
  for await (const chunk of writer.stdout) {
    stored += chunk.length
    if (stored >= batches) writer.kill('SIGKILL')
  }
  await writer.exited
}

/** Usage that an earlier version summed up by hour, day and month, after the upgrade. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import { hasTable, isSqlite } from '../database/sql-differences.ts'
import { openStore, type Store } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { readSums } from '../usage/read-sums.fixture.ts'
import { HoursDeletedError } from '../usage/usage-rows.ts'
import { migrateToLatest, migrations, NewerDatabaseError } from './migrations.ts'

const STEP = '0044_usage_sums'
const BEFORE = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < STEP))
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIRST_DAY = Date.parse('2026-01-01T00:00:00Z')
const day = (number: number) => FIRST_DAY + number * DAY_MS
const OTHER = 'acct_other'

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let store: Store | undefined
  beforeEach(async () => {
    created = await kind.create({ empty: true })
    const database = await openDatabase(created.location)
    await migrateToLatest(database, BEFORE)
    await fill(database)
    await database.destroy()
  })
  afterEach(async () => {
    await store?.close()
    store = undefined
    await created.remove()
  })

  async function insert(
    database: Kysely<Schema>,
    table: string,
    { startsAt, calls, account = DEFAULT_ACCOUNT as string, durations = '10:1' }: InsertedRow,
  ): Promise<void> {
    await sql`INSERT INTO ${sql.table(table)} (account_id, starts_at, gate_id, target, key_id, status_class, credential,
        calls, failed, cancelled, unreported, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens,
        cache_write_tokens, cost_nano_usd, cost_estimated, cost_unknown, durations, first_bytes)
      VALUES (${account}, ${startsAt}, 'demo', 'p/m', 'key_1', 2, '', ${calls}, 0, 0, 0, ${calls}, 0, 0, 0, 0,
        4000000000000000000, 0, 0, ${durations}, '')`.execute(database)
  }

  interface InsertedRow {
    readonly startsAt: number
    readonly calls: number
    readonly account?: string
    readonly durations?: string
  }

  const noteOf = (startsAt: number, calls: number) =>
    `[${startsAt},"demo","p/m","key_1",2,"",${calls},0,0,0,${calls},0,0,0,0,7,0,0,"10:1",""]`

  async function fill(database: Kysely<Schema>): Promise<void> {
    const rolled = (number: number) =>
      sql`INSERT INTO usage_rolled_days (account_id, starts_at) VALUES (${DEFAULT_ACCOUNT}, ${day(number)})`.execute(
        database,
      )
    // A day whose hours are folded, and one that is summed up.
    await insert(database, 'usage_hours', { startsAt: day(0), calls: 3 })
    await insert(database, 'usage_days', { startsAt: day(0), calls: 3 })
    await rolled(0)
    await sql`INSERT INTO usage_folded_hours (account_id, before_at) VALUES (${DEFAULT_ACCOUNT}, ${day(1)})`.execute(
      database,
    )
    await insert(database, 'usage_hours', { startsAt: day(1) + HOUR_MS, calls: 5 })
    await insert(database, 'usage_days', { startsAt: day(1), calls: 5 })
    await rolled(1)
    // A day that has changed since it was summed up, and one that never was.
    for (const hour of [0, 7, 23])
      await insert(database, 'usage_hours', { startsAt: day(2) + hour * HOUR_MS, calls: 1 })
    await insert(database, 'usage_days', { startsAt: day(2), calls: 1 })
    await insert(database, 'usage_hours', { startsAt: day(3) + HOUR_MS, calls: 9 })
    await insert(database, 'usage_hours', { startsAt: day(3), calls: 2, account: OTHER })
    await insert(database, 'usage_months', { startsAt: day(0), calls: 8, durations: '~Kh' })
    // Calls that wait for their hours: of a day that is summed up, and of a new one.
    const rows = [noteOf(day(1) + HOUR_MS, 10), noteOf(day(4), 20)]
    if (isSqlite(database)) {
      const batch = (accounts: readonly string[]) =>
        accounts.map((account) => `["${account}",${rows.join()}]`).join('\n')
      await sql`INSERT INTO usage_batches (id, sums) VALUES
        (1, ${batch(['acct_a', DEFAULT_ACCOUNT, OTHER])}), (2, ${batch([DEFAULT_ACCOUNT])})`.execute(
        database,
      )
      // The first batch is in the hours up to this account.
      await sql`INSERT INTO usage_settlement (last_batch, account_id) VALUES (1, ${DEFAULT_ACCOUNT})`.execute(
        database,
      )
      await sql`INSERT INTO usage_notes (account_id, id, sums) VALUES ('acct_z', 'n1', ${`[${rows.join()}]`})`.execute(
        database,
      )
      return
    }
    await sql`INSERT INTO usage_notes (account_id, id, sums) VALUES (${DEFAULT_ACCOUNT}, 'n1', ${`[${rows.join()}]`}),
      (${OTHER}, 'n2', ${`[${rows.join()}]`}), ('acct_z', 'n3', ${`[${rows.join()}]`})`.execute(
      database,
    )
  }

  const callsByDay = async (accountId: string) => {
    const range = { fromMs: day(0), toMs: day(9), interval: 'day', groupBy: null } as const
    const sums = (await store?.usage.readRange(accountId as never, range))?.sums ?? []
    return sums.map(({ startsAt, calls }) => [(startsAt - FIRST_DAY) / DAY_MS, calls])
  }

  test('every call counts once, in its day and in its hour', async () => {
    store = await openStore(created.location)
    expect(await callsByDay(DEFAULT_ACCOUNT)).toEqual([
      [0, 3],
      [1, 15],
      [2, 3],
      [3, 9],
      [4, 20],
    ])
    expect(await callsByDay(OTHER)).toEqual([
      [1, 10],
      [3, 2],
      [4, 20],
    ])
    expect(await callsByDay('acct_a')).toEqual([])
    expect(await callsByDay('acct_z')).toEqual([
      [1, 10],
      [4, 20],
    ])
    const hours = { fromMs: day(2), toMs: day(3), interval: 'hour', groupBy: null } as const
    const sums = await readSums(store.usage, DEFAULT_ACCOUNT, hours)
    expect(sums.map(({ startsAt, calls }) => [(startsAt - day(2)) / HOUR_MS, calls])).toEqual([
      [0, 1],
      [7, 1],
      [23, 1],
    ])
    const all = { fromMs: day(0), toMs: day(9), interval: 'all', groupBy: null } as const
    const [total] = await readSums(store.usage, DEFAULT_ACCOUNT, all)
    expect(total).toMatchObject({ calls: 50, inputTokens: 50 })
    // The middle of bucket 10, of the rows that had it.
    expect(total?.duration.p50).toBeGreaterThan(0)
  })

  test('folded hours are no hours, and are answered by the day', async () => {
    store = await openStore(created.location)
    const hours = { fromMs: day(0), toMs: day(1), interval: 'hour', groupBy: null } as const
    const asked = readSums(store.usage, DEFAULT_ACCOUNT, hours)
    expect(asked).rejects.toBeInstanceOf(HoursDeletedError)
    await asked.catch(() => {})
    const part = { ...hours, fromMs: day(0) + HOUR_MS, interval: 'all' } as const
    const { query, sums } = await store.usage.readRange(DEFAULT_ACCOUNT, part)
    expect([query.fromMs, sums[0]?.calls]).toEqual([day(0), 3])
  })

  test('the tables of before are gone, and an earlier version refuses the database', async () => {
    for (let start = 0; start < 2; start += 1) await (await openStore(created.location)).close()
    const database = await openDatabase(created.location)
    try {
      for (const name of ['usage_months', 'usage_rolled_days', 'usage_notes', 'usage_batches'])
        expect([name, await hasTable(database, name)]).toEqual([name, false])
      const earlier = migrateToLatest(database, BEFORE)
      expect(earlier).rejects.toThrow(NewerDatabaseError)
      await earlier.catch(() => {})
    } finally {
      await database.destroy()
    }
  })
})

/** Money that an earlier version stored in millionths of a dollar, after the upgrade. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import { isSqlite } from '../database/sql-differences.ts'
import { openStore, type Store } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { readSums } from '../usage/read-sums.fixture.ts'
import { migrateToLatest, migrations, NewerDatabaseError } from './migrations.ts'

const STEP = '0040_nano_usd'
const BEFORE = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < STEP))
const HOUR = Date.parse('2026-01-01T10:00:00Z')
const GREATEST = 9_223_372_036_854_775_000n

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

  async function fill(database: Kysely<Schema>): Promise<void> {
    const calls = [
      ['req_1', '3', 'exact', 'prices@1'],
      ['req_2', '30009', 'estimated', 'prices@1+webSearch:3@10000'],
      ['req_3', 'NULL', 'unknown', null],
      ['req_4', '9007199254740991', 'exact', 'prices@1'],
    ] as const
    for (const [id, cost, status, source] of calls)
      await sql`INSERT INTO calls (id, account_id, key_id, gate_id, dialect, stream, target, attempts, outcome, status,
          started_at, duration_ms, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens,
          cost_micro_usd, cost_status, price_source)
        VALUES (${id}, ${DEFAULT_ACCOUNT}, 'key_1', 'demo', 'openai-chat', 0, 'p/m', 1, 'succeeded', 200,
          ${HOUR}, 9, 10, 2, 0, 0, ${sql.raw(cost)}, ${status}, ${source})`.execute(database)
    await insertHour(database, 'usage_hours', 'demo', 30_012n)
    await insertHour(database, 'usage_days', 'demo', 30_012n)
    await insertHour(database, 'usage_hours', 'greatest', GREATEST)
    const row = `[${HOUR},"noted","p/m","key_1",2,"",1,0,0,0,1,1,0,0,0,7,0,0,"",""]`
    if (isSqlite(database))
      await sql`INSERT INTO usage_batches (id, sums) VALUES (1, ${`["${DEFAULT_ACCOUNT}",${row}]\n["acct_other",${row},${row}]`})`.execute(
        database,
      )
    else
      await sql`INSERT INTO usage_notes (account_id, id, sums) VALUES (${DEFAULT_ACCOUNT}, 'n1', ${`[${row}]`})`.execute(
        database,
      )
    for (const [id, limit] of [
      ['bud_1', 2_500_000],
      ['bud_2', 1e15],
    ] as const)
      await sql`INSERT INTO budgets (id, account_id, name, key_id, limit_micro_usd, period, alert_at, first_tokens,
          first_micro_usd, first_unpriced, created_at, updated_at)
        VALUES (${id}, ${DEFAULT_ACCOUNT}, 'one', 'key_1', ${limit}, 'total', '[1]', 5, 480, 0, ${HOUR}, ${HOUR})`.execute(
        database,
      )
  }

  async function insertHour(
    database: Kysely<Schema>,
    table: string,
    gate: string,
    cost: bigint,
  ): Promise<void> {
    await sql`INSERT INTO ${sql.table(table)} (account_id, starts_at, gate_id, target, key_id, status_class, credential,
        calls, failed, cancelled, unreported, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens,
        cache_write_tokens, cost_micro_usd, cost_estimated, cost_unknown, durations, first_bytes)
      VALUES (${DEFAULT_ACCOUNT}, ${HOUR}, ${gate}, 'p/m', 'key_1', 2, '', 1, 0, 0, 0, 1, 1, 0, 0, 0, ${sql.raw(String(cost))},
        0, 0, '', '')`.execute(database)
  }

  test('is billionths in rows, sums, notes, budgets and the use of budgets', async () => {
    store = await openStore(created.location)
    const costs = await Promise.all(
      ['req_1', 'req_2', 'req_3', 'req_4'].map((id) => store?.calls.find(DEFAULT_ACCOUNT, id)),
    )
    expect(costs.map((call) => call?.cost)).toEqual([
      { nanoUsd: 3_000, status: 'exact', source: 'prices@1' },
      { nanoUsd: 30_009_000, status: 'estimated', source: 'prices@1+webSearch:3@10000' },
      undefined,
      { nanoUsd: 9_000_000_000_000_000, status: 'exact', source: 'prices@1' },
    ])
    const range = {
      fromMs: HOUR,
      toMs: HOUR + 3_600_000,
      interval: 'hour',
      groupBy: 'gate',
    } as const
    const sums = await readSums(store.usage, DEFAULT_ACCOUNT, range)
    expect(sums.map(({ group, costNanoUsd }) => [group, costNanoUsd])).toEqual([
      ['demo', 30_012_000],
      ['greatest', 4_000_000_000_000_000_000],
      ['noted', 7_000],
    ])
    const [first, second] = (await store.budgets.loadAll()).toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    )
    expect(first?.limit).toEqual({ type: 'spend', nanoUsd: 2_500_000_000 })
    expect(second?.limit).toEqual({ type: 'spend', nanoUsd: 9_000_000_000_000_000 })
    const kept = await store.budgetBeginnings.load()
    expect(kept.get('bud_1')).toEqual({ tokens: 5, nanoUsd: 480_000, unpricedCalls: 0 })
  })

  test('is converted once, however often a node starts', async () => {
    for (let start = 0; start < 2; start += 1) await (await openStore(created.location)).close()
    store = await openStore(created.location)
    expect((await store.calls.find(DEFAULT_ACCOUNT, 'req_1'))?.cost?.nanoUsd).toBe(3_000)
  })

  test('an earlier version refuses the database from then on, and one that still runs cannot write', async () => {
    store = await openStore(created.location)
    const database = await openDatabase(created.location)
    try {
      expect(migrateToLatest(database, BEFORE)).rejects.toThrow(NewerDatabaseError)
      const written = sql`UPDATE calls SET cost_micro_usd = 1`.execute(database)
      expect(written).rejects.toThrow('cost_micro_usd')
      await written.catch(() => {})
    } finally {
      await database.destroy()
    }
  })
})

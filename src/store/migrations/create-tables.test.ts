/** The tables of a new file: those that the steps of the schema's history make. */
import { expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { createTables } from './create-tables.ts'
import { MigrationFailedError, migrateToLatest, migrations } from './migrations.ts'

async function withDatabase<Result>(
  work: (database: Kysely<Schema>) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ path: ':memory:' })
  try {
    return await work(database)
  } finally {
    await database.destroy()
  }
}

interface Made {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

/** Everything that is in it, but for when it was made. */
async function readWhole(database: Kysely<Schema>) {
  const made = await sql<Made>`SELECT type, name, sql FROM sqlite_master ORDER BY rowid`.execute(
    database,
  )
  const rows: Record<string, unknown> = {}
  for (const { name } of made.rows.filter(({ type }) => type === 'table')) {
    const found = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(
      database,
    )
    rows[name] = found.rows.map(({ created_at, timestamp, ...row }) => ({
      ...row,
      times: [typeof created_at, typeof timestamp],
    }))
  }
  return { made: made.rows, rows }
}

test('a new file equals the result of all steps, one by one', async () => {
  const stepwise = await withDatabase(async (database) => {
    await migrateToLatest(database)
    return await readWhole(database)
  })
  const atOnce = await withDatabase(async (database) => {
    expect(await createTables(database)).toBeTrue()
    return await readWhole(database)
  })
  expect(atOnce).toEqual(stepwise)
  expect(atOnce.made.length).toBeGreaterThan(70)
  expect(atOnce.rows.accounts).toHaveLength(1)
})

test('a database with tables, or other steps, is left unchanged', async () => {
  await withDatabase(async (database) => {
    const { '0001_first_tables': first, ...others } = migrations
    expect(await createTables(database, others)).toBeFalse()
    expect((await readWhole(database)).made).toEqual([])
    await migrateToLatest(database, { ...(first && { '0001_first_tables': first }) })
    const before = await readWhole(database)
    expect(await createTables(database)).toBeFalse()
    expect(await readWhole(database)).toEqual(before)
  })
})

test('a disk that is full in the middle leaves nothing behind', async () => {
  await withDatabase(async (database) => {
    await sql`PRAGMA max_page_count = 9`.execute(database)
    const failure = await createTables(database).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MigrationFailedError)
    expect(String(failure)).toContain('disk is full. Nothing was changed.')
    expect((await readWhole(database)).made).toEqual([])
  })
})

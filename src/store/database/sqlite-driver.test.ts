import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { BunSqliteDialect } from './sqlite-driver.ts'
import { StoreFileGoneError } from './store-file-gone-error.ts'

interface Numbers {
  readonly numbers: { n: number }
}

async function openNumbers(): Promise<Kysely<Numbers>> {
  const database = new Kysely<Numbers>({ dialect: new BunSqliteDialect(':memory:') })
  await database.schema.createTable('numbers').addColumn('n', 'integer').execute()
  await database
    .insertInto('numbers')
    .values([{ n: 1 }, { n: 2 }, { n: 3 }])
    .execute()
  return database
}

test('changed rows and returned rows of a statement are kept apart', async () => {
  const database = await openNumbers()
  const updated = await database
    .updateTable('numbers')
    .set({ n: 0 })
    .where('n', '>', 1)
    .executeTakeFirst()
  expect(updated.numUpdatedRows).toBe(2n)
  const returned = await database.deleteFrom('numbers').where('n', '=', 1).returning('n').execute()
  expect(returned).toEqual([{ n: 1 }])
  await database.destroy()
})

test('rows can be streamed, and a stream that is left early does not keep the database open', async () => {
  const database = await openNumbers()
  const seen: number[] = []
  for await (const row of database.selectFrom('numbers').select('n').orderBy('n').stream()) {
    seen.push(row.n)
    if (row.n === 2) break
  }
  expect(seen).toEqual([1, 2])
  await database.destroy()
})

test('a failed transaction is rolled back, and a failed statement does not keep the database open', async () => {
  const database = await openNumbers()
  const failing = database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('numbers').execute()
    await sql`SELECT * FROM nowhere`.execute(transaction)
  })
  expect(failing).rejects.toThrow('nowhere')
  await failing.catch(() => {})
  expect(await database.selectFrom('numbers').selectAll().execute()).toHaveLength(3)
  await database.destroy()
})

test('a transaction that began by reading can still write: no other writer comes in between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-driver-'))
  const path = join(folder, 'numbers.db')
  const database = new Kysely<Numbers>({ dialect: new BunSqliteDialect(path) })
  await database.schema.createTable('numbers').addColumn('n', 'integer').execute()
  const other = new Database(path)
  other.run('PRAGMA busy_timeout = 0')
  await database.transaction().execute(async (transaction) => {
    expect(await transaction.selectFrom('numbers').selectAll().execute()).toEqual([])
    expect(() => other.run('insert into numbers values (1)')).toThrow('locked')
    await transaction.insertInto('numbers').values({ n: 2 }).execute()
  })
  other.run('insert into numbers values (3)')
  expect(await database.selectFrom('numbers').selectAll().execute()).toEqual([{ n: 2 }, { n: 3 }])
  other.close()
  await database.destroy()
  rmSync(folder, { recursive: true })
})

test('a transaction of repeatable reads lets other processes write, and does not see it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-driver-'))
  const path = join(folder, 'numbers.db')
  const database = new Kysely<Numbers>({ dialect: new BunSqliteDialect(path) })
  await database.schema.createTable('numbers').addColumn('n', 'integer').execute()
  const other = new Database(path)
  other.run('PRAGMA busy_timeout = 0')
  const reading = database.transaction().setIsolationLevel('repeatable read')
  await reading.execute(async (transaction) => {
    expect(await transaction.selectFrom('numbers').selectAll().execute()).toEqual([])
    other.run('insert into numbers values (1)')
    expect(await transaction.selectFrom('numbers').selectAll().execute()).toEqual([])
  })
  expect(await database.selectFrom('numbers').selectAll().execute()).toEqual([{ n: 1 }])
  other.close()
  await database.destroy()
  rmSync(folder, { recursive: true })
})

test('a transaction without room fails with that error, even if SQLite itself has rolled it back', async () => {
  const database = await openNumbers()
  await sql`PRAGMA max_page_count = 3`.execute(database)
  const filling = database.transaction().execute(async (transaction) => {
    for (let round = 0; round < 10_000; round += 1) {
      await transaction.insertInto('numbers').values({ n: round }).execute()
      // A failing disk does the same.
      if (round === 5_000) throw new Error('there was room for 5,000 rows')
    }
  })
  await expect(filling).rejects.toMatchObject({ code: 'SQLITE_FULL' })
  expect(await database.selectFrom('numbers').selectAll().execute()).toHaveLength(3)
  const late = database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('numbers').execute()
    await sql`ROLLBACK`.execute(transaction)
    throw new Error('the cause')
  })
  await expect(late).rejects.toThrow('the cause')
  await database.transaction().execute((transaction) => transaction.deleteFrom('numbers').execute())
  expect(await database.selectFrom('numbers').selectAll().execute()).toEqual([])
  await database.destroy()
})

test('a statement with rows of values runs for each up to the first that changes nothing', async () => {
  const database = await openNumbers()
  await database.schema.createIndex('each_once').unique().on('numbers').column('n').execute()
  const insert = database
    .insertInto('numbers')
    .values({ n: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .compile()
  const { numAffectedRows } = await database.executeQuery({
    ...insert,
    parameters: [[4], [5], [4], [6]],
  })
  expect(numAffectedRows).toBe(2n)
  const rows = await database.selectFrom('numbers').select('n').orderBy('n').execute()
  expect(rows.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
  await database.destroy()
})

test('a transaction whose file was deleted meanwhile is not committed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  const path = join(folder, 'numbers.db')
  const database = new Kysely<Numbers>({ dialect: new BunSqliteDialect(path) })
  await database.schema.createTable('numbers').addColumn('n', 'integer').execute()
  const committed = database.transaction().execute(async (transaction) => {
    await transaction.insertInto('numbers').values({ n: 1 }).execute()
    rmSync(path)
  })
  await expect(committed).rejects.toThrow(StoreFileGoneError)
  expect(await database.selectFrom('numbers').selectAll().execute()).toEqual([])
  await database.destroy()
  rmSync(folder, { recursive: true })
})

/**
 * src/store/migrations/new-tables.generated.json: what the steps of the schema's history come to on
 * SQLite. Knows none of them.
 */
import { type Kysely, sql } from 'kysely'
import { openDatabase } from '../src/store/database/open-database.ts'
import { migrateToLatest, migrations } from '../src/store/migrations/migrations.ts'

export const NEW_TABLES = 'src/store/migrations/new-tables.generated.json'

export async function newTables(): Promise<string> {
  const database = await openDatabase({ path: ':memory:' })
  try {
    await migrateToLatest(database)
    const tables = { steps: Object.keys(migrations), statements: await listStatements(database) }
    return `${JSON.stringify(tables, null, 2)}\n`
  } finally {
    await database.destroy()
  }
}

/** In the order in which they were made. SQLite makes the indexes of constraints by itself. */
async function listStatements<Tables>(database: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{
    sql: string
  }>`SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid`.execute(database)
  return rows.map((row) => row.sql)
}

/**
 * The tables of a new SQLite file: all that the steps of the schema's history come to, made at
 * once. `scripts/docs.ts` writes it down, and a test compares. Must not know any table by itself.
 */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { insertFirstAccount, MigrationFailedError, migrations } from './migrations.ts'
import tables from './new-tables.generated.json' with { type: 'json' }
import { noteOf, type Steps, writeNotes } from './newer-steps.ts'

/** Kysely's own, which its Migrator reads. */
interface StepsSchema {
  readonly kysely_migration: { readonly name: string; readonly timestamp: string }
  readonly kysely_migration_lock: { readonly id: string; readonly is_locked: number }
}

/**
 * Step by step it takes 80 ms of a first start. All tables are there afterwards, or none.
 * @returns false when the steps have to be taken one by one: there are tables already, or it is a
 * Postgres, or `steps` are not those that were written down
 * @throws MigrationFailedError
 */
export async function createTables(
  database: Kysely<Schema>,
  steps: Steps = migrations,
): Promise<boolean> {
  const isWritten = Object.keys(steps).join() === tables.steps.join()
  if (!isWritten || !isSqlite(database)) return false
  try {
    return await database.transaction().execute(async (transaction) => {
      // Asked where nobody else can write: another process may have come first.
      if (!(await isEmpty(transaction))) return false
      for (const statement of tables.statements) await sql.raw(statement).execute(transaction)
      await insertFirstAccount(transaction)
      await noteSteps(transaction, steps)
      return true
    })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MigrationFailedError(
      `The database could not be created: ${reason}. Nothing was changed.`,
      {
        cause,
      },
    )
  }
}

async function isEmpty(database: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM sqlite_master LIMIT 1`.execute(database)
  return rows.length === 0
}

async function noteSteps(database: Kysely<Schema>, steps: Steps): Promise<void> {
  const own = database as unknown as Kysely<StepsSchema>
  const timestamp = new Date().toISOString()
  const taken = Object.keys(steps).map((name) => ({ name, timestamp }))
  await own.insertInto('kysely_migration').values(taken).execute()
  await own
    .insertInto('kysely_migration_lock')
    .values({ id: 'migration_lock', is_locked: 0 })
    .execute()
  await writeNotes(
    database,
    Object.entries(steps).flatMap(([name, step]) => noteOf(name, step) ?? []),
  )
}

/**
 * Moves what one database holds into another, of either kind. Both are opened by the caller; it
 * knows no file and no address.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { isSqlite, takeTurn } from './database/sql-differences.ts'
import { InstallationTableStore } from './installation/installation.ts'
import type { Store } from './open-store.ts'
import { PLAIN_ENTRIES } from './resources/plain-kinds.ts'
import type { Schema } from './schema.ts'

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** Something is in the database that was to be filled; nothing was changed. */
export class StoreNotEmptyError extends Error {
  override readonly name = 'StoreNotEmptyError'
}

/** All tables, each after those that it refers to. */
export const TABLES: readonly (keyof Schema)[] = [
  'accounts',
  'api_keys',
  'deleted_keys',
  'gates',
  'owned_models',
  'provider_keys',
  'calls',
  'usage_hours',
  'usage_days',
  'refused_hours',
  'upkeep',
  'budgets',
  'budget_alerts',
  'webhooks',
  'webhook_deliveries',
  ...PLAIN_ENTRIES.map(([, { table }]) => table),
  'users',
  'user_sessions',
  'user_logins',
  'user_verifications',
  'members',
  'invitations',
  'sign_in_tries',
  'audit_log',
]

/** Far below the parameters that a database takes at once: 65,535 and 24 columns at most. */
const ROWS_PER_STATEMENT = 500

export interface CopyOptions {
  /** Called with how many rows of a table are copied so far, several times for a large one. */
  readonly onProgress?: ((progress: CopiedTable) => void) | undefined
  /** Nothing is copied where it fails, and nothing but the commit follows it. */
  readonly beforeCommit?: () => Promise<void>
}

/**
 * All of it is copied or nothing. The tables of both have to be up to date, and nobody may write to
 * `from` meanwhile.
 * @throws StoreNotEmptyError when `to` holds more than the account that every database begins with
 */
export async function copyStore(
  from: Pick<Store, 'database' | 'installation'>,
  to: Pick<Store, 'database'>,
  { onProgress = () => {}, beforeCommit }: CopyOptions = {},
): Promise<readonly CopiedTable[]> {
  return await to.database.transaction().execute(async (transaction) => {
    await takeTurn(transaction, 'copy')
    await assertEmpty(transaction)
    // It comes with the others.
    await transaction.deleteFrom('accounts').execute()
    const copied: CopiedTable[] = []
    await reading(from.database, async (source) => {
      for (const table of TABLES)
        copied.push({ table, rows: await copyTable(source, transaction, { table, onProgress }) })
    })
    await copyInstallation(from, transaction)
    await analyzeTables(transaction)
    await beforeCommit?.()
    return copied
  })
}

/** All tables of one moment; and a cursor of Postgres lives as long as its transaction. */
async function reading(
  from: Kysely<Schema>,
  read: (source: Kysely<Schema>) => Promise<void>,
): Promise<void> {
  if (isSqlite(from)) await read(from)
  else await from.transaction().setIsolationLevel('repeatable read').execute(read)
}

/** It is the same installation, and no node has seen it at a change that the copy is not at yet. */
async function copyInstallation(
  { installation: source }: Pick<Store, 'installation'>,
  to: Transaction<Schema>,
): Promise<void> {
  const found = await source.read()
  if (found === undefined) return
  const installation = new InstallationTableStore(to)
  await to.deleteFrom('installation').execute()
  await installation.create(found.id)
  await installation.noteMasterKey(found.masterKeyId)
  await installation.raiseChange(found.change)
}

/**
 * Postgres makes statistics of a filled table a minute later, or never. Until then a page of an
 * account's log reads and sorts all of its calls that are older.
 */
async function analyzeTables(database: Transaction<Schema>): Promise<void> {
  if (isSqlite(database)) return
  await sql`ANALYZE ${sql.join(TABLES.map((table) => sql.table(table)))}`.execute(database)
}

async function assertEmpty(transaction: Transaction<Schema>): Promise<void> {
  for (const table of TABLES) {
    const rows = await transaction
      .selectFrom(table)
      .select(({ lit }) => lit(1).as('one'))
      .limit(2)
      .execute()
    if (rows.length > (table === 'accounts' ? 1 : 0))
      throw new StoreNotEmptyError(
        `The database to copy to is not empty: it has rows in ${table}. Nothing was changed.`,
      )
  }
}

async function copyTable(
  from: Kysely<Schema>,
  to: Transaction<Schema>,
  {
    table,
    onProgress,
  }: {
    readonly table: keyof Schema
    readonly onProgress: (progress: CopiedTable) => void
  },
): Promise<number> {
  let rows = 0
  for await (const batch of readBatches(from, table)) {
    // Each row goes into the table that it comes from, which the types of Kysely cannot tell.
    await to
      .insertInto(table as 'accounts')
      .values(batch as never)
      .execute()
    rows += batch.length
    onProgress({ table, rows })
  }
  return rows
}

/** Never an empty one. */
async function* readBatches(
  from: Kysely<Schema>,
  table: keyof Schema,
): AsyncGenerator<readonly object[]> {
  if (isSqlite(from)) {
    let batch: object[] = []
    for await (const row of from.selectFrom(table).selectAll().stream()) {
      batch.push(row)
      if (batch.length < ROWS_PER_STATEMENT) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
    return
  }
  await sql`DECLARE copied NO SCROLL CURSOR FOR SELECT * FROM ${sql.table(table)}`.execute(from)
  for (;;) {
    const { rows } = await sql<object>`FETCH ${sql.lit(ROWS_PER_STATEMENT)} FROM copied`.execute(
      from,
    )
    if (rows.length > 0) yield rows
    if (rows.length < ROWS_PER_STATEMENT) break
  }
  await sql`CLOSE copied`.execute(from)
}

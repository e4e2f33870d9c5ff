import { type Kysely, sql, type Transaction } from 'kysely'
import { isSqlite, lockName } from './database/sql-differences.ts'
import { InstallationTableStore } from './installation/installation.ts'
import type { Store } from './open-store.ts'
import { PLAIN_ENTRIES } from './resources/plain-kinds.ts'
import type { Schema } from './schema.ts'

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

export class StoreNotEmptyError extends Error {
  override readonly name = 'StoreNotEmptyError'
}

export const TABLES: readonly (keyof Schema)[] = [
  'accounts',
  'api_keys',
  'deleted_keys',
  'stops',
  'gates',
  'owned_models',
  'provider_keys',
  'calls',
  'usage_hours',
  'usage_days',
  'user_days',
  'tag_days',
  'call_sessions',
  'attribution',
  'caller_names',
  'erased_users',
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
  'price_entries',
  'model_prices',
]

const ROWS_PER_STATEMENT = 500

export interface CopyOptions {
  readonly onProgress?: ((progress: CopiedTable) => void) | undefined
  /** The last step before the commit; an error rolls back the copy. */
  readonly beforeCommit?: () => Promise<void>
}

/**
 * Copies all rows or none. Both databases must have the current schema, and `from` must not change
 * meanwhile.
 * @throws StoreNotEmptyError when `to` contains more than the account of every new database
 */
export async function copyStore(
  from: Pick<Store, 'database' | 'installation'>,
  to: Pick<Store, 'database'>,
  { onProgress = () => {}, beforeCommit }: CopyOptions = {},
): Promise<readonly CopiedTable[]> {
  return await to.database.transaction().execute(async (transaction) => {
    await lockName(transaction, 'copy')
    await assertEmpty(transaction)
    // The copy contains its own row for this account.
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

async function reading(
  from: Kysely<Schema>,
  read: (source: Kysely<Schema>) => Promise<void>,
): Promise<void> {
  if (isSqlite(from)) await read(from)
  else await from.transaction().setIsolationLevel('repeatable read').execute(read)
}

/** Raises the change number, so that no node is ahead of the copy. */
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
 * Postgres may analyse a filled table only a minute later, and until then would sort all older
 * calls for a page of the log.
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
    // Each row goes into the same table of the other database, which Kysely's types cannot express.
    await to
      .insertInto(table as 'accounts')
      .values(batch as never)
      .execute()
    rows += batch.length
    onProgress({ table, rows })
  }
  return rows
}

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

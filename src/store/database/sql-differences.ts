/** All SQL differences between SQLite and Postgres, besides their drivers. */
import {
  type Kysely,
  type RawBuilder,
  type SqlBool,
  SqliteAdapter,
  sql,
  type Transaction,
} from 'kysely'

export function isSqlite<Tables>(database: Kysely<Tables>): boolean {
  return database.getExecutor().adapter instanceof SqliteAdapter
}

export function placeholder<Tables>(database: Kysely<Tables>, number: number): string {
  return isSqlite(database) ? '?' : `$${number}`
}

/**
 * Sums a column without overflow: SQLite's SUM fails beyond 63 bits
 * (https://sqlite.org/lang_aggfunc.html#sumunc).
 */
export function sumOf<Tables>(database: Kysely<Tables>, column: string): RawBuilder<number | null> {
  return isSqlite(database) ? sql`TOTAL(${sql.ref(column)})` : sql`SUM(${sql.ref(column)})`
}

/**
 * A server's rows as one JSON text: the driver makes a string of each value, even numbers, which
 * would be most of the garbage of a long list. Keeps the order of a sorted subquery
 * (https://www.postgresql.org/docs/current/functions-aggregate.html).
 * @param columns of `table`, in the order of the values
 */
export function rowsAsJson(table: string, columns: readonly string[]): RawBuilder<string | null> {
  const values = columns.map((column) => `"${table}"."${column}"`).join(', ')
  return sql.raw(`json_agg(json_build_array(${values}))::text`)
}

/** The clock of Postgres' machine: milliseconds since the Unix epoch. */
export const POSTGRES_CLOCK_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/**
 * Whether the column contains the text.
 * @param text in lower case. SQLite changes the case of the column's ASCII letters only.
 */
export function containsText(column: string, text: string): RawBuilder<SqlBool> {
  const pattern = `%${text.replaceAll(/[%_!]/g, '!$&')}%`
  return sql<SqlBool>`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '!'`
}

/** Whether an error reports a row with the same key, so that the statement changed nothing. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DUPLICATE.test(String(error.code))
}

const DUPLICATE = /^(?:SQLITE_CONSTRAINT_(?:PRIMARYKEY|UNIQUE)|23505)$/

/** Whether this database (in Postgres: the current schema) has such a table. */
export async function hasTable<Tables>(database: Kysely<Tables>, name: string): Promise<boolean> {
  const found = isSqlite(database)
    ? sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`
    : sql`SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ${name}`
  const { rows } = await found.execute(database)
  return rows.length > 0
}

export async function currentSchema<Tables>(database: Kysely<Tables>): Promise<string | undefined> {
  if (isSqlite(database)) return undefined
  const { rows } = await sql<{ name: string | null }>`SELECT current_schema() AS name`.execute(
    database,
  )
  return rows[0]?.name ?? undefined
}

/**
 * Locks a name until the transaction ends, across all nodes. Call this before reading rows in order
 * to update them. SQLite has only one writer at a time anyway.
 * @param what a unique name within the database, such as `account acct_…`
 */
export async function lockName<Tables>(
  transaction: Transaction<Tables>,
  what: string,
): Promise<void> {
  if (isSqlite(transaction)) return
  // Two names with the same hash wait for each other, which is harmless.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(transaction)
}

/** Shared locks on names: they exclude `lockName` of these names until the transaction ends. */
export async function lockNamesShared<Tables>(
  transaction: Transaction<Tables>,
  names: readonly string[],
): Promise<void> {
  if (isSqlite(transaction)) return
  await sql`SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0))
    FROM jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) AS given (name)`.execute(
    transaction,
  )
}

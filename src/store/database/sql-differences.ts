/**
 * All SQL differences between the two databases, besides their drivers. Must not know any table:
 * queries ask for what they need, and this file has the SQL for each database.
 */
import { type Kysely, type RawBuilder, SqliteAdapter, sql, type Transaction } from 'kysely'

export function isSqlite<Tables>(database: Kysely<Tables>): boolean {
  return database.getExecutor().adapter instanceof SqliteAdapter
}

/** The parameter placeholder in a statement's text. @param number starting at 1 */
export function placeholder<Tables>(database: Kysely<Tables>, number: number): string {
  return isSqlite(database) ? '?' : `$${number}`
}

/**
 * The sum of a column without overflow: SQLite's SUM fails beyond 63 bits
 * (https://sqlite.org/lang_aggfunc.html#sumunc).
 */
export function sumOf<Tables>(database: Kysely<Tables>, column: string): RawBuilder<number | null> {
  return isSqlite(database) ? sql`TOTAL(${sql.ref(column)})` : sql`SUM(${sql.ref(column)})`
}

/**
 * A server's rows as one JSON text, parsed at once and in a separate turn: the driver makes a
 * string of each value, even numbers, which would be most of the garbage of a long list. Keeps the
 * order of a sorted subquery (https://www.postgresql.org/docs/current/functions-aggregate.html).
 * Null: no rows.
 * @param columns of `table`, in the order of the values
 */
export function rowsAsJson(table: string, columns: readonly string[]): RawBuilder<string | null> {
  const values = columns.map((column) => `"${table}"."${column}"`).join(', ')
  return sql.raw(`json_agg(json_build_array(${values}))::text`)
}

/** A row with this key exists already, and the statement changed nothing. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DUPLICATE.test(String(error.code))
}

/** The codes of SQLite and of Postgres (unique_violation). */
const DUPLICATE = /^(?:SQLITE_CONSTRAINT_(?:PRIMARYKEY|UNIQUE)|23505)$/

/** True when this database (in Postgres: the current schema) has such a table. */
export async function hasTable<Tables>(database: Kysely<Tables>, name: string): Promise<boolean> {
  const found = isSqlite(database)
    ? sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`
    : sql`SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ${name}`
  const { rows } = await found.execute(database)
  return rows.length > 0
}

/** The schema of new tables, if the database has schemas. */
export async function currentSchema<Tables>(database: Kysely<Tables>): Promise<string | undefined> {
  if (isSqlite(database)) return undefined
  const { rows } = await sql<{ name: string | null }>`SELECT current_schema() AS name`.execute(
    database,
  )
  return rows[0]?.name ?? undefined
}

/**
 * Locks a name until the transaction ends, across all nodes. Call this before reading something in
 * order to update it. SQLite has only one writer at a time anyway.
 * @param what a unique name within the database, such as `account acct_…`
 */
export async function takeTurn<Tables>(
  transaction: Transaction<Tables>,
  what: string,
): Promise<void> {
  if (isSqlite(transaction)) return
  // Two names with the same hash wait for each other, which is harmless.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(transaction)
}

/**
 * All that the SQL of the two databases does not share, beside their drivers. Must not know any
 * table: the queries say what they want, and this has the words for each database.
 */
import {
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  SqliteAdapter,
  sql,
  type Transaction,
} from 'kysely'

export function isSqlite<Tables>(database: Kysely<Tables>): boolean {
  return database.getExecutor().adapter instanceof SqliteAdapter
}

/** The sign for a parameter in the text of a statement. @param number from one on */
export function placeholder<Tables>(database: Kysely<Tables>, number: number): string {
  return isSqlite(database) ? '?' : `$${number}`
}

/**
 * The sum of a column, whatever it comes to: SQLite's SUM fails beyond 63 bits
 * (https://sqlite.org/lang_aggfunc.html#sumunc).
 */
export function sumOf<Tables>(database: Kysely<Tables>, column: string): RawBuilder<number | null> {
  return isSqlite(database) ? sql`TOTAL(${sql.ref(column)})` : sql`SUM(${sql.ref(column)})`
}

/**
 * Rows of a server as one JSON text, which is read at once and in a turn of its reader's own: its
 * driver makes a text of each value, numbers too, and these are most of the garbage of a long list.
 * They stay in the order of a sorted subquery
 * (https://www.postgresql.org/docs/current/functions-aggregate.html). Null: there are none.
 * @param columns of `table`, their values in this order
 */
export function rowsAsJson(table: string, columns: readonly string[]): RawBuilder<string | null> {
  const values = columns.map((column) => `"${table}"."${column}"`).join(', ')
  return sql.raw(`json_agg(json_build_array(${values}))::text`)
}

/** Of a statement: a row of this key is there already, and nothing was changed. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DUPLICATE.test(String(error.code))
}

/** The codes of SQLite and of Postgres (unique_violation). */
const DUPLICATE = /^(?:SQLITE_CONSTRAINT_(?:PRIMARYKEY|UNIQUE)|23505)$/

/**
 * Stored in the order of its key, where the database can: a range of the key is then read in one go
 * (https://sqlite.org/withoutrowid.html).
 */
export function storedByKey<Tables, Name extends string, Columns extends string>(
  database: Kysely<Tables>,
  table: CreateTableBuilder<Name, Columns>,
): CreateTableBuilder<Name, Columns> {
  return isSqlite(database) ? table.modifyEnd(sql`WITHOUT ROWID`) : table
}

/** True where this database (of Postgres: the schema in use) has such a table. */
export async function hasTable<Tables>(database: Kysely<Tables>, name: string): Promise<boolean> {
  const found = isSqlite(database)
    ? sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`
    : sql`SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ${name}`
  const { rows } = await found.execute(database)
  return rows.length > 0
}

/** The schema that new tables come to, where there is such a thing. */
export async function currentSchema<Tables>(database: Kysely<Tables>): Promise<string | undefined> {
  if (isSqlite(database)) return undefined
  const { rows } = await sql<{ name: string | null }>`SELECT current_schema() AS name`.execute(
    database,
  )
  return rows[0]?.name ?? undefined
}

/**
 * Waits until no other transaction has its turn at the same thing, on any node, and has it until
 * the transaction ends. Begin with this before reading something in order to write it anew. SQLite
 * has one writer at a time in any case.
 * @param what names it among all things of the database, such as `account acct_…`
 */
export async function takeTurn<Tables>(
  transaction: Transaction<Tables>,
  what: string,
): Promise<void> {
  if (isSqlite(transaction)) return
  // Two things whose names give the same number wait for each other, and nothing worse.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(transaction)
}

/** What the tables of usage sums share: bounded statements that add rows of counters. */
import { type CompiledQuery, type DialectAdapter, type Kysely, type RawBuilder, sql } from 'kysely'
import { MAX_STORED_NANO_USD } from '../../core/money.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { CounterColumns, Schema } from '../schema.ts'
import { type CALLER_COUNTERS, COUNTERS } from './usage-columns.ts'

/** Rows per statement: some tenths of a millisecond of the event loop. */
const ROWS_OF_SQLITE = 16
const ROWS_OF_POSTGRES = 256

export interface SumTable {
  readonly name: keyof Schema & string
  readonly key: readonly string[]
  /** In the order of a row's values. */
  readonly columns: readonly string[]
  /** The columns that hold text; all others hold integers. */
  readonly texts: ReadonlySet<string>
}

/** Powers of two on SQLite, so that few statements have to be compiled. */
export function* toStatements<Row>(
  database: Kysely<Schema>,
  rows: readonly Row[],
): Generator<readonly Row[]> {
  const isFile = isSqlite(database)
  const most = isFile ? ROWS_OF_SQLITE : ROWS_OF_POSTGRES
  for (let start = 0; start < rows.length; ) {
    const left = Math.min(rows.length - start, most)
    const count = isFile ? 2 ** Math.floor(Math.log2(left)) : left
    yield rows.slice(start, start + count)
    start += count
  }
}

/** Larger sums would be inexact, so sums are bounded. A provider may report any number. */
const GREATEST_SUM = Number.MAX_SAFE_INTEGER

/** @returns the row itself when no sum is too large, which is nearly always */
export function boundSums<Row extends CounterColumns>(row: Row): Row {
  if (COUNTERS.every((name) => row[name] <= greatestOf(name))) return row
  const bounded = { ...row }
  for (const name of COUNTERS) bounded[name] = Math.min(row[name], greatestOf(name))
  return bounded
}

export function toStoredTokens(sum: number): number {
  return Math.min(sum, GREATEST_SUM)
}

export function toStoredNanoUsd(sum: number): number {
  return Math.min(sum, MAX_STORED_NANO_USD)
}

function greatestOf(name: (typeof CALLER_COUNTERS)[number]): number {
  return name === 'cost_nano_usd' ? MAX_STORED_NANO_USD : GREATEST_SUM
}

/** Cached, because Kysely takes longer to compile a statement than SQLite to run the statement. */
const compiled = new WeakMap<DialectAdapter, Map<string, CompiledQuery>>()

/** @param what names the statement, with its table; statements of a file differ by rows */
export function compiledOnce(
  database: Kysely<Schema>,
  [what, rows]: readonly [what: string, rows: number],
  compile: () => CompiledQuery,
): CompiledQuery {
  const { adapter } = database.getExecutor()
  const known = compiled.get(adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(adapter, known)
  const name = isSqlite(database) ? `${what} ${rows}` : what
  const query = known.get(name) ?? compile()
  known.set(name, query)
  return query
}

/** Ends with `ON CONFLICT (key)`. */
export function insertInto(
  database: Kysely<Schema>,
  { name: table, key, columns, texts }: SumTable,
  count: number,
): RawBuilder<unknown> {
  const list = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))
  const row = sql`(${sql.join(columns.map(() => sql`${''}`))})`
  // Postgres gets rows as JSON, because its driver converts each parameter to a string at several
  // times the cost.
  const values = columns.map((name, index) => {
    const value = sql`(one.row ->> ${sql.lit(index)})`
    return texts.has(name) ? value : sql`${value}::bigint`
  })
  const rows = isSqlite(database)
    ? sql`VALUES ${sql.join(Array.from({ length: count }, () => row))}`
    : sql`SELECT ${sql.join(values)}
        FROM jsonb_array_elements(${''}::jsonb) WITH ORDINALITY AS one (row, number) ORDER BY number`
  return sql`INSERT INTO ${sql.table(table)} (${list(columns)}) ${rows} ON CONFLICT (${list(key)})`
}

/** @param values of each row, in the order of the table's columns */
export function toParameters(
  database: Kysely<Schema>,
  values: readonly (readonly unknown[])[],
): readonly unknown[] {
  return isSqlite(database) ? values.flat() : [JSON.stringify(values)]
}

export function addCounters(
  table: string,
  counters: readonly (typeof CALLER_COUNTERS)[number][] = COUNTERS,
): readonly RawBuilder<unknown>[] {
  return counters.map((name) => sql`${sql.ref(name)} = ${sumOf(table, name)}`)
}

/** Postgres refuses a statement whose sum exceeds 63 bits. */
function sumOf(table: string, name: (typeof CALLER_COUNTERS)[number]): RawBuilder<number> {
  const stored = sql.ref(`${table}.${name}`)
  const sum = sql`${stored} + ${sql.ref(`excluded.${name}`)}`
  return sql<number>`CASE WHEN ${stored} < ${sql.lit(greatestOf(name))} THEN ${sum} ELSE ${stored} END`
}

import { type CompiledQuery, type DialectAdapter, type Kysely, type RawBuilder, sql } from 'kysely'
import { MAX_STORED_NANO_USD } from '../../core/money.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { joinEncoded, toShortForm } from './latency-histogram.ts'
import { COUNTERS, DAY_MS, DIMENSIONS, HOUR_MS, type UsageTableName } from './usage-columns.ts'

/** Rows per statement: some tenths of a millisecond of the event loop. */
const ROWS_OF_SQLITE = 16
const ROWS_OF_POSTGRES = 256

/**
 * Characters of a row's two histograms. Longer histograms are rewritten in the short form: a SQLite
 * row above 1,000 bytes needs its own page.
 */
const LONG_HISTOGRAMS = 700

const KEY = ['account_id', ...DIMENSIONS] as const
const COLUMNS = [...KEY, ...COUNTERS, 'durations', 'first_bytes'] as const

type Between = () => Promise<unknown>

/**
 * @param transaction the transaction that inserts the calls; preferably as its last step, since
 * other nodes wait for these rows
 * @param between awaited before each statement, so that calls are served
 * @returns how many rows were written
 */
export async function addUsage(
  transaction: Kysely<Schema>,
  rows: readonly UsageTable[],
  between: Between,
): Promise<number> {
  const hours = await addToTable(transaction, 'usage_hours', rows, between)
  return hours + (await addToTable(transaction, 'usage_days', rows, between))
}

const STEP_MS = { usage_hours: HOUR_MS, usage_days: DAY_MS } as const

async function addToTable(
  transaction: Kysely<Schema>,
  table: UsageTableName,
  rows: readonly UsageTable[],
  between: Between,
): Promise<number> {
  const sorted = mergeRows(rows, STEP_MS[table])
  for (const some of toStatements(transaction, sorted)) {
    await between()
    const long = await upsert(transaction, table, some)
    for (const rewritten of toStatements(transaction, long))
      await shorten(transaction, table, rewritten)
  }
  return sorted.length
}

/** Powers of two on SQLite, so that few statements have to be compiled. */
function* toStatements<Row>(
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

/**
 * Merges rows of the same key, in key order. With thousands of accounts nearly every call has its
 * own key, so a single row is returned unchanged.
 */
function mergeRows(rows: readonly UsageTable[], stepMs: number): readonly UsageTable[] {
  const merged = new Map<string, UsageTable>()
  for (const row of rows) {
    const key = toSortKey(row, stepMs)
    const sum = merged.get(key)
    merged.set(key, sum === undefined ? row : joinRows(sum, row))
  }
  return [...merged.keys()].sort().flatMap((key) => merged.get(key) ?? [])
}

function joinRows(one: UsageTable, other: UsageTable): UsageTable {
  const joined = {
    ...one,
    durations: joinEncoded(one.durations, other.durations),
    first_bytes: joinEncoded(one.first_bytes, other.first_bytes),
  }
  for (const name of COUNTERS) joined[name] += other[name]
  return joined
}

/**
 * Every node writes rows in this order, so nodes cannot deadlock. Lengths keep the key unambiguous.
 */
function toSortKey(row: UsageTable, stepMs: number): string {
  const { account_id, gate_id, target, key_id, status_class, credential } = row
  const time = String(startOf(row, stepMs)).padStart(15, '0')
  return (
    `${account_id}\n${time}\n${gate_id}\n${target}\n${key_id}\n${status_class}\n${credential}` +
    `\n${account_id.length} ${gate_id.length} ${target.length} ${key_id.length}`
  )
}

function startOf({ starts_at }: UsageTable, stepMs: number): number {
  return starts_at - (starts_at % stepMs)
}

async function upsert(
  transaction: Kysely<Schema>,
  table: UsageTableName,
  rows: readonly UsageTable[],
): Promise<readonly LongRow[]> {
  const query = compiledOnce(transaction, ['upsert', table, rows.length], () =>
    compileUpsert(transaction, table, rows.length),
  )
  const parameters = toParameters(transaction, table, rows)
  const written = await transaction.executeQuery<LongRow>({ ...query, parameters })
  return written.rows.filter(({ account_id }) => account_id !== null)
}

/** Larger sums would be inexact, so sums are bounded. A provider may report any number. */
const GREATEST_SUM = Number.MAX_SAFE_INTEGER

/** @returns the row itself when no sum is too large, which is nearly always */
function boundSums(row: UsageTable): UsageTable {
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

function greatestOf(name: (typeof COUNTERS)[number]): number {
  return name === 'cost_nano_usd' ? MAX_STORED_NANO_USD : GREATEST_SUM
}

/**
 * In the order of `COLUMNS`. Written out, because with thousands of accounts the function runs for
 * every call.
 */
function toValues(row: UsageTable, stepMs: number): unknown[] {
  return [
    row.account_id,
    startOf(row, stepMs),
    row.gate_id,
    row.target,
    row.key_id,
    row.status_class,
    row.credential,
    row.calls,
    row.failed,
    row.cancelled,
    row.unreported,
    row.input_tokens,
    row.output_tokens,
    row.cached_input_tokens,
    row.reasoning_tokens,
    row.cache_write_tokens,
    row.cost_nano_usd,
    row.cost_estimated,
    row.cost_unknown,
    row.durations,
    row.first_bytes,
  ]
}

/** Cached, because Kysely takes longer to compile a statement than SQLite to run the statement. */
const compiled = new WeakMap<DialectAdapter, Map<string, CompiledQuery>>()

function compiledOnce(
  database: Kysely<Schema>,
  [what, table, rows]: readonly [what: string, table: UsageTableName, rows: number],
  compile: () => CompiledQuery,
): CompiledQuery {
  const { adapter } = database.getExecutor()
  const known = compiled.get(adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(adapter, known)
  const name = isSqlite(database) ? `${what} ${table} ${rows}` : `${what} ${table}`
  const query = known.get(name) ?? compile()
  known.set(name, query)
  return query
}

type LongRow = Pick<UsageTable, (typeof LONG_COLUMNS)[number]>

const HISTOGRAMS = ['durations', 'first_bytes'] as const
const LONG_COLUMNS = [...KEY, ...HISTOGRAMS] as const

function compileUpsert(
  database: Kysely<Schema>,
  table: UsageTableName,
  count: number,
): CompiledQuery {
  const sums = COUNTERS.map((name) => sql`${sql.ref(name)} = ${sumOf(table, name)}`)
  const joins = HISTOGRAMS.map((name) => sql`${sql.ref(name)} = ${joinOf(table, name)}`)
  const isLong = sql`length(durations) + length(first_bytes) > ${sql.lit(LONG_HISTOGRAMS)}`
  const update = sql`${insertInto(database, table, count)}
    DO UPDATE SET ${sql.join([...sums, ...joins])}`
  const columns = LONG_COLUMNS.map((name) => sql.ref(name))
  if (!isSqlite(database))
    return sql`WITH written AS (${update} RETURNING ${sql.join(columns)})
      SELECT * FROM written WHERE ${isLong}`.compile(database)
  const returned = columns.map((name) => sql`CASE WHEN ${isLong} THEN ${name} END AS ${name}`)
  return sql`${update} RETURNING ${sql.join(returned)}`.compile(database)
}

function insertInto(
  database: Kysely<Schema>,
  table: UsageTableName,
  count: number,
): RawBuilder<unknown> {
  const list = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))
  const row = sql`(${sql.join(COLUMNS.map(() => sql`${''}`))})`
  // Postgres gets rows as JSON, because its driver converts each parameter to a string at several
  // times the cost.
  const values = COLUMNS.map((name, index) => {
    const value = sql`(one.row ->> ${sql.lit(index)})`
    return TEXTS.has(name) ? value : sql`${value}::bigint`
  })
  const rows = isSqlite(database)
    ? sql`VALUES ${sql.join(Array.from({ length: count }, () => row))}`
    : sql`SELECT ${sql.join(values)}
        FROM jsonb_array_elements(${''}::jsonb) WITH ORDINALITY AS one (row, number) ORDER BY number`
  return sql`INSERT INTO ${sql.table(table)} (${list(COLUMNS)}) ${rows} ON CONFLICT (${list(KEY)})`
}

const TEXTS: ReadonlySet<string> = new Set([
  'account_id',
  'gate_id',
  'target',
  'key_id',
  'credential',
  ...HISTOGRAMS,
])

function toParameters(
  database: Kysely<Schema>,
  table: UsageTableName,
  rows: readonly UsageTable[],
): readonly unknown[] {
  const values = rows.map((row) => toValues(boundSums(row), STEP_MS[table]))
  return isSqlite(database) ? values.flat() : [JSON.stringify(values)]
}

/** Postgres refuses a statement whose sum exceeds 63 bits. */
function sumOf(table: UsageTableName, name: (typeof COUNTERS)[number]): RawBuilder<number> {
  const stored = sql.ref(`${table}.${name}`)
  const sum = sql`${stored} + ${sql.ref(`excluded.${name}`)}`
  return sql<number>`CASE WHEN ${stored} < ${sql.lit(greatestOf(name))} THEN ${sum} ELSE ${stored} END`
}

function joinOf(table: UsageTableName, name: 'durations' | 'first_bytes'): RawBuilder<string> {
  const [before, more] = [sql.ref(`${table}.${name}`), sql.ref(`excluded.${name}`)]
  return sql`CASE WHEN ${before} = '' OR ${more} = '' THEN ${before} || ${more}
    ELSE ${before} || ',' || ${more} END`
}

async function shorten(
  transaction: Kysely<Schema>,
  table: UsageTableName,
  rows: readonly LongRow[],
): Promise<void> {
  const replaced = HISTOGRAMS.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`)
  const query = compiledOnce(transaction, ['shorten', table, rows.length], () =>
    sql`${insertInto(transaction, table, rows.length)}
      DO UPDATE SET ${sql.join(replaced)}`.compile(transaction),
  )
  const shortened = rows.map((row) => ({
    ...NO_USAGE,
    ...row,
    durations: toShortForm(row.durations),
    first_bytes: toShortForm(row.first_bytes),
  }))
  await transaction.executeQuery({
    ...query,
    parameters: toParameters(transaction, table, shortened),
  })
}

const NO_USAGE = Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Pick<
  UsageTable,
  (typeof COUNTERS)[number]
>

import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { joinEncoded, toShortForm } from './latency-histogram.ts'
import {
  addCounters,
  boundSums,
  compiledOnce,
  insertInto,
  type SumTable,
  toParameters,
  toStatements,
} from './upsert-sums.ts'
import {
  COUNTERS,
  DAY_MS,
  DIMENSIONS,
  HOUR_MS,
  NO_USAGE,
  type UsageTableName,
} from './usage-columns.ts'

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
  const query = compiledOnce(transaction, [`upsert ${table}`, rows.length], () =>
    compileUpsert(transaction, table, rows.length),
  )
  const parameters = toParameters(transaction, valuesOf(table, rows))
  const written = await transaction.executeQuery<LongRow>({ ...query, parameters })
  return written.rows.filter(({ account_id }) => account_id !== null)
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

type LongRow = Pick<UsageTable, (typeof LONG_COLUMNS)[number]>

const HISTOGRAMS = ['durations', 'first_bytes'] as const
const LONG_COLUMNS = [...KEY, ...HISTOGRAMS] as const

function compileUpsert(
  database: Kysely<Schema>,
  table: UsageTableName,
  count: number,
): CompiledQuery {
  const joins = HISTOGRAMS.map((name) => sql`${sql.ref(name)} = ${joinOf(table, name)}`)
  const isLong = sql`length(durations) + length(first_bytes) > ${sql.lit(LONG_HISTOGRAMS)}`
  const update = sql`${insertInto(database, describe(table), count)}
    DO UPDATE SET ${sql.join([...addCounters(table), ...joins])}`
  const columns = LONG_COLUMNS.map((name) => sql.ref(name))
  if (!isSqlite(database))
    return sql`WITH written AS (${update} RETURNING ${sql.join(columns)})
      SELECT * FROM written WHERE ${isLong}`.compile(database)
  const returned = columns.map((name) => sql`CASE WHEN ${isLong} THEN ${name} END AS ${name}`)
  return sql`${update} RETURNING ${sql.join(returned)}`.compile(database)
}

const TEXTS: ReadonlySet<string> = new Set([
  'account_id',
  'gate_id',
  'target',
  'key_id',
  'credential',
  ...HISTOGRAMS,
])

function describe(table: UsageTableName): SumTable {
  return { name: table, key: KEY, columns: COLUMNS, texts: TEXTS }
}

function valuesOf(table: UsageTableName, rows: readonly UsageTable[]): unknown[][] {
  return rows.map((row) => toValues(boundSums(row), STEP_MS[table]))
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
  const query = compiledOnce(transaction, [`shorten ${table}`, rows.length], () =>
    sql`${insertInto(transaction, describe(table), rows.length)}
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
    parameters: toParameters(transaction, valuesOf(table, shortened)),
  })
}

/**
 * The roll-up of all calls: hour × gate × target × key × class of status × credential. Must not be
 * given a call twice; what was summed up to a day is marked as changed.
 */
import { type CompiledQuery, type DialectAdapter, type Kysely, type RawBuilder, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { MAX_STORED_NANO_USD } from '../../core/money.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { joinEncoded, shortenEncoded } from './latency-histogram.ts'
import { COUNTERS, MEMBERS, PLACE, toMembers } from './usage-note.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Some two tenths of a millisecond of the event loop. */
const ROWS_PER_STATEMENT = 16

/** Of statements of one row. */
const ROWS_PER_RUN = 32

/** Of a row's histograms together: some forty buckets, and no page of the file for itself. */
const SHORT_CHARS = 400

/** Like `writeHours`, and marks their days to be summed up anew. */
export async function addToHours(
  database: Kysely<Schema>,
  rows: readonly UsageTable[],
  between?: () => Promise<unknown>,
): Promise<void> {
  await writeHours(database, rows, between)
  await markDaysDue(database, rows, between)
}

/**
 * Each row's place must come once; `database` is the transaction that takes the rows from where
 * they were.
 * @param between awaited before each statement, so that others get their turn
 */
export async function writeHours(
  database: Kysely<Schema>,
  rows: readonly UsageTable[],
  between?: () => Promise<unknown>,
): Promise<void> {
  const left = isSqlite(database) ? await writeShortHours(database, rows, between) : rows
  for (let start = 0; start < left.length; start += ROWS_PER_STATEMENT) {
    await between?.()
    const some = left.slice(start, start + ROWS_PER_STATEMENT)
    const stored = new Map<string, Histograms>()
    for (const found of await findHistograms(database, some)) stored.set(toPlace(found), found)
    const joined = some.map((row) => {
      const before = stored.get(toPlace(row))
      return {
        ...boundSums(row),
        durations: shortenEncoded(joinEncoded(before?.durations ?? '', row.durations)),
        first_bytes: shortenEncoded(joinEncoded(before?.first_bytes ?? '', row.first_bytes)),
      }
    })
    await database.executeQuery(compileUpsert(database, joined))
  }
}

/**
 * The greatest sum that is written: numbers count no further one by one. Calls reach it only where
 * an earlier version took whatever a server reported, and those sums must not stop the others.
 */
const GREATEST_SUM = Number.MAX_SAFE_INTEGER

/** @returns the row itself where nothing is to be changed, which is nearly always */
export function boundSums(row: UsageTable): UsageTable {
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
 * Those whose histograms are short and stay so, which the database joins as texts: to read one, to
 * find each bucket once and to write it costs twice as much.
 * @returns the other rows, which are not written
 */
async function writeShortHours(
  database: Kysely<Schema>,
  rows: readonly UsageTable[],
  between?: () => Promise<unknown>,
): Promise<readonly UsageTable[]> {
  const [short, long] = [[] as UsageTable[], [] as UsageTable[]]
  for (const row of rows) (histogramChars(row) <= SHORT_CHARS ? short : long).push(row)
  const query = compiledOnce(textsFor(database).joins, 1, () => compileJoin(database))
  for (let start = 0; start < short.length; ) {
    await between?.()
    const some = short.slice(start, start + ROWS_PER_RUN)
    const parameters = some.map((row) => [row.account_id, ...toMembers(boundSums(row))])
    const { numAffectedRows } = await database.executeQuery({ ...query, parameters })
    start += Number(numAffectedRows)
    // It ends at the first row that changes nothing: that of the hours would be too long.
    const refused = short[start]
    if (Number(numAffectedRows) === some.length || refused === undefined) continue
    long.push(refused)
    start += 1
  }
  return long
}

function histogramChars(row: UsageTable): number {
  return row.durations.length + row.first_bytes.length
}

/** Adds rows to sums by place. @param rows nobody else's: the first of a place becomes its sum */
export function addRows(sums: Map<string, UsageTable>, rows: readonly UsageTable[]): void {
  for (const row of rows) {
    const place = toPlace(row)
    const sum = sums.get(place)
    if (sum === undefined) {
      sums.set(place, row)
      continue
    }
    addRow(sum, row)
  }
}

/** @param sum of the same place */
export function addRow(sum: UsageTable, row: UsageTable): void {
  for (const name of COUNTERS) sum[name] += row[name]
  sum.durations = joinShort(sum.durations, row.durations)
  sum.first_bytes = joinShort(sum.first_bytes, row.first_bytes)
}

/**
 * A histogram of all buckets is about as long; a longer text is read while little else is done, and
 * not with all others at the end.
 */
const LONG_HISTOGRAM_CHARS = 4_096

function joinShort(left: string, right: string): string {
  const joined = joinEncoded(left, right)
  return joined.length > LONG_HISTOGRAM_CHARS ? shortenEncoded(joined) : joined
}

export type Place = Pick<UsageTable, 'account_id' | (typeof PLACE)[number]>

/** `PLACE` for a statement: to be selected, and to put rows in order by. */
export const PLACE_COLUMNS = sql.join(PLACE.map((name) => sql.ref(name)))

/** True of the rows that come after this one in the order of `PLACE`. */
export function isAfterPlace(last: Omit<Place, 'account_id'>): RawBuilder<boolean> {
  const values = PLACE.map((name) =>
    name === 'status_class' ? sql`cast(${last[name]} as bigint)` : last[name],
  )
  return sql`(${PLACE_COLUMNS}) > (${sql.join(values)})`
}

/** One text for each row of usage, whatever its ids hold: their lengths tell where each ends. */
export function toPlace(place: Place): string {
  const { account_id, starts_at, gate_id, target, key_id, status_class, credential } = place
  const lengths = `${gate_id.length} ${target.length} ${key_id.length}`
  return (
    `${starts_at} ${status_class} ${credential} ${lengths} ` +
    `${gate_id}${target}${key_id}${account_id}`
  )
}

type Histograms = Place & Pick<UsageTable, 'durations' | 'first_bytes'>

/** Kysely compiles each query once: that costs more than SQLite needs to run it. */
const texts = new WeakMap<DialectAdapter, QueryTexts>()

interface QueryTexts {
  /** By the number of rows. */
  readonly histograms: Map<number, CompiledQuery>
  readonly upserts: Map<number, CompiledQuery>
  readonly joins: Map<number, CompiledQuery>
  readonly unmarks: Map<number, CompiledQuery>
  readonly dues: Map<number, CompiledQuery>
}

/** Each kind of database has its own. */
function textsFor(database: Kysely<Schema>): QueryTexts {
  const { adapter } = database.getExecutor()
  const known = texts.get(adapter) ?? {
    histograms: new Map(),
    upserts: new Map(),
    joins: new Map(),
    unmarks: new Map(),
    dues: new Map(),
  }
  texts.set(adapter, known)
  return known
}

/** @param kept of one statement, by the number of rows */
function compiledOnce(
  kept: Map<number, CompiledQuery>,
  rows: number,
  compile: () => CompiledQuery,
): CompiledQuery {
  const known = kept.get(rows)
  if (known !== undefined) return known
  const query = compile()
  kept.set(rows, query)
  return query
}

async function findHistograms(
  database: Kysely<Schema>,
  places: readonly Place[],
): Promise<readonly Histograms[]> {
  const parameters = places.flatMap((place) => [
    place.account_id,
    place.starts_at,
    place.gate_id,
    place.target,
    place.key_id,
    place.status_class,
    place.credential,
  ])
  const query = compiledOnce(textsFor(database).histograms, places.length, () => {
    // Both databases name the columns of such a list column1, column2 and so on.
    const list = sql.join(
      places.map(
        () => sql`(${0}, cast(${0} as bigint), ${0}, ${0}, ${0}, cast(${0} as bigint), ${0})`,
      ),
    )
    return sql`
      SELECT hours.account_id, hours.starts_at, hours.gate_id, hours.target, hours.key_id, hours.status_class,
        hours.credential, hours.durations, hours.first_bytes
      FROM (VALUES ${list}) AS place
      CROSS JOIN usage_hours AS hours
      WHERE hours.account_id = place.column1 AND hours.starts_at = place.column2 AND hours.gate_id = place.column3
        AND hours.target = place.column4 AND hours.key_id = place.column5 AND hours.status_class = place.column6
        AND hours.credential = place.column7
    `.compile(database)
  })
  const { rows } = await database.executeQuery<Histograms>({ ...query, parameters })
  return rows
}

function compileUpsert(database: Kysely<Schema>, rows: readonly UsageTable[]): CompiledQuery {
  const query = compiledOnce(textsFor(database).upserts, rows.length, () =>
    database
      .insertInto('usage_hours')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['account_id', ...PLACE]).doUpdateSet({
          ...Object.fromEntries(COUNTERS.map((name) => [name, sumOf(name)])),
          durations: (eb) => eb.ref('excluded.durations'),
          first_bytes: (eb) => eb.ref('excluded.first_bytes'),
        }),
      )
      .compile(),
  )
  return { ...query, parameters: rows.flatMap((row) => Object.values(row)) }
}

/** Of one row, for the driver to run for each of many. */
function compileJoin(database: Kysely<Schema>): CompiledQuery {
  const columns = ['account_id', ...MEMBERS]
  const key = columns.slice(0, -COUNTERS.length - 2)
  const list = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))
  const sums = COUNTERS.map((name) => sql`${sql.ref(name)} = ${sumOf(name)}`)
  return sql`
    INSERT INTO usage_hours (${list(columns)}) VALUES (${sql.join(columns.map(() => sql`${''}`))})
    ON CONFLICT (${list(key)}) DO UPDATE SET ${sql.join(sums)},
      durations = ${joinOf('durations')}, first_bytes = ${joinOf('first_bytes')}
    WHERE length(usage_hours.durations) + length(excluded.durations)
      + length(usage_hours.first_bytes) + length(excluded.first_bytes) < ${sql.lit(SHORT_CHARS)}
  `.compile(database)
}

/** Like `joinEncoded`. */
function joinOf(name: 'durations' | 'first_bytes'): RawBuilder<string> {
  const [before, more] = [sql.ref(`usage_hours.${name}`), sql.ref(`excluded.${name}`)]
  return sql`CASE WHEN ${before} = '' OR ${more} = '' THEN ${before} || ${more}
    ELSE ${before} || ',' || ${more} END`
}

/** Postgres refuses a statement whose sum does not fit into 63 bits. */
function sumOf(name: (typeof COUNTERS)[number]): RawBuilder<number> {
  const stored = sql.ref(`usage_hours.${name}`)
  const sum = sql`${stored} + ${sql.ref(`excluded.${name}`)}`
  return sql<number>`CASE WHEN ${stored} < ${sql.lit(greatestOf(name))} THEN ${sum} ELSE ${stored} END`
}

async function markDaysDue(
  database: Kysely<Schema>,
  rows: readonly UsageTable[],
  between?: () => Promise<unknown>,
): Promise<void> {
  // Rows come account after account: one that comes again does no harm.
  const due: { account_id: AccountId; starts_at: number }[] = []
  for (const { account_id, starts_at } of rows) {
    const day = Math.floor(starts_at / DAY_MS) * DAY_MS
    const last = due.at(-1)
    if (last?.account_id !== account_id || last.starts_at !== day)
      due.push({ account_id, starts_at: day })
  }
  for (let start = 0; start < due.length; start += ROWS_PER_STATEMENT) {
    await between?.()
    const some = due.slice(start, start + ROWS_PER_STATEMENT)
    const parameters = some.flatMap((day) => [day.account_id, day.starts_at])
    await database.executeQuery({ ...compileUnmark(database, some.length), parameters })
    await database.executeQuery({ ...compileDue(database, some), parameters })
  }
}

function compileUnmark(database: Kysely<Schema>, count: number): CompiledQuery {
  return compiledOnce(textsFor(database).unmarks, count, () => {
    const list = sql.join(Array.from({ length: count }, () => sql`(${''}, cast(${0} as bigint))`))
    return sql`DELETE FROM usage_rolled_days WHERE (account_id, starts_at) IN (VALUES ${list})`.compile(
      database,
    )
  })
}

function compileDue(
  database: Kysely<Schema>,
  days: readonly { readonly account_id: AccountId; readonly starts_at: number }[],
): CompiledQuery {
  return compiledOnce(textsFor(database).dues, days.length, () =>
    database
      .insertInto('usage_due_days')
      .values(days)
      .onConflict((conflict) => conflict.columns(['starts_at', 'account_id']).doNothing())
      .compile(),
  )
}

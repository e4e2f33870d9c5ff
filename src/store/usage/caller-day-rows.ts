/** Reads the sums by day of users and tags, which have no histograms. */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { ANY_TAG } from './caller-sums.ts'
import { addCounts, boundRefused, type Counts, noCounts } from './group-steps.ts'
import { exceptBefore, toRanked } from './ranked-groups.ts'
import { readInSlices } from './read-in-slices.ts'
import { readInKeyOrder } from './rows-in-key-order.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { IN_PARTS, querySummed } from './summed-rows.ts'
import { CALLER_COUNTERS, type CallerDayTableName, DAY_MS, UNPRICED } from './usage-columns.ts'
import { type ReadRows, type SummedRow, toStart, type UsageReading } from './usage-query.ts'

const ID_COLUMNS = { user_days: 'user_id', tag_days: 'tag_id' } as const

interface DaySpan {
  readonly table: CallerDayTableName
  readonly fromMs: number
  readonly toMs: number
}

/** Grouped: rows of each user or tag, then the rows of calls without any (`rest` of the reading). */
export async function* readCallerDays(
  database: Kysely<Schema>,
  reading: UsageReading,
  span: DaySpan,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { userId, tagId } = reading.query
  if (userId !== undefined || tagId !== undefined)
    return yield* readSums(database, reading, span, compileOfCaller(database, reading, span))
  yield* isSqlite(database)
    ? readSingleRows(database, reading, span)
    : readSums(database, reading, span, compileGrouped(database, reading, span))
  yield { rows: reading.rest ?? [], reachedMs: span.toMs }
}

/**
 * The sums of calls without a user or tag, by step: the account's days without the days of all named
 * users, or of the calls with any tag.
 * @param account the account's sums of these days
 */
export async function readRest(
  database: Kysely<Schema>,
  reading: UsageReading,
  span: DaySpan,
  account: readonly SummedRow[],
): Promise<readonly SummedRow[]> {
  const steps = new Map<number, Counts>()
  const add = (row: SummedRow, sign: 1 | -1) => {
    const startsAt = toStart(row.starts_at, reading.query)
    steps.set(startsAt, addCounts(steps.get(startsAt) ?? noCounts(), row, sign))
  }
  for (const row of account) add(row, 1)
  const isNamed = span.table === 'tag_days' ? sql`AND tag_id = ${ANY_TAG}` : sql``
  const ask = compileSums(database, reading, { table: span.table, where: isNamed })
  for await (const { rows } of readSums(database, reading, span, ask))
    for (const row of rows) add(row, -1)
  return [...steps].flatMap(([startsAt, counts]) => {
    const place = { starts_at: startsAt, group: null, durations: null, first_bytes: null }
    return counts.calls > 0 ? [{ ...boundRefused(counts), ...place }] : []
  })
}

type SumsOfSlice = (slice: { fromMs: number; toMs: number }) => CompiledQuery<SummedRow>

const DAYS_AT_FIRST = 32

async function* readSums(
  database: Kysely<Schema>,
  { turns }: UsageReading,
  { fromMs, toMs }: DaySpan,
  ask: SumsOfSlice,
): AsyncGenerator<ReadRows<SummedRow>> {
  const bounds = { fromMs, toMs, leastMs: DAY_MS, firstMs: DAYS_AT_FIRST * DAY_MS }
  yield* readInSlices(database, { ...bounds, ...IN_PARTS, turns }, (slice) =>
    querySummed(database, ask(slice), { turns }),
  )
}

/** A day of thousands of users would block the event loop for many milliseconds. */
function readSingleRows(
  database: Kysely<Schema>,
  reading: UsageReading,
  span: DaySpan,
): AsyncGenerator<ReadRows<SummedRow>> {
  const id = ID_COLUMNS[span.table]
  return readInKeyOrder<SummedRow>(database, reading, {
    ...span,
    key: ['starts_at', id],
    columns: [
      sql`${sql.ref(id)} AS ${sql.ref('group')}`,
      ...CALLER_COUNTERS.map((name) => sql.ref(name)),
      sql`${UNPRICED} AS unpriced`,
    ],
    where: sql`AND ${sql.ref(id)} <> ${ANY_TAG} AND calls > 0`,
  })
}

function compileOfCaller(
  database: Kysely<Schema>,
  reading: UsageReading,
  { table }: DaySpan,
): SumsOfSlice {
  const { groupBy, userId, tagId } = reading.query
  const id = sql.ref(ID_COLUMNS[table])
  const group = groupBy === null ? undefined : id
  const where = sql`AND ${id} = ${userId ?? tagId}`
  return compileSums(database, reading, { table, where, group })
}

function compileGrouped(
  database: Kysely<Schema>,
  reading: UsageReading,
  { table }: DaySpan,
): SumsOfSlice {
  const id = sql.ref(ID_COLUMNS[table])
  const { groups } = reading
  const where = sql`AND ${id} <> ${ANY_TAG} ${exceptBefore(database, id, groups)}`
  return compileSums(database, reading, { table, where, group: toRanked(database, id, groups) })
}

function compileSums(
  database: Kysely<Schema>,
  { accountId, query }: UsageReading,
  {
    table,
    where,
    group,
  }: {
    readonly table: CallerDayTableName
    readonly where: RawBuilder<unknown>
    readonly group?: RawBuilder<unknown> | undefined
  },
): SumsOfSlice {
  const counters = CALLER_COUNTERS.map((name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`)
  const hasSteps = query.interval !== 'all'
  const places = [
    ...(hasSteps ? [sql.ref('starts_at')] : []),
    ...(group === undefined ? [] : [sql.ref('group')]),
  ]
  return compiledForSlices(
    sql<SummedRow>`
      SELECT ${hasSteps ? sql.ref('starts_at') : sql`MIN(starts_at)`} AS starts_at,
        ${group === undefined ? sql`NULL AS` : sql``} ${sql.ref('group')},
        ${sql.join(counters)}, SUM(${UNPRICED}) AS unpriced
      FROM (SELECT * ${group === undefined ? sql`` : sql`, ${group} AS ${sql.ref('group')}`}
        FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at >= ${FROM} AND starts_at < ${TO} ${where}
      ) AS rows_of_slice
      ${places.length === 0 ? sql`` : sql`GROUP BY ${sql.join(places)}`}
      HAVING SUM(calls) > 0`.compile(database),
  )
}

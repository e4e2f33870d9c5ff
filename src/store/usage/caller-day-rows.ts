/** Reads the sums by day of users and tags, which have no histograms. */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { ANY_TAG } from './caller-sums.ts'
import { exceptBefore, toRanked } from './ranked-groups.ts'
import { readInSlices } from './read-in-slices.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { querySummed, SUMMED_ROW_IN_CHARACTERS } from './summed-rows.ts'
import { type CallerDayTableName, COUNTERS, DAY_MS } from './usage-columns.ts'
import type { ReadRows, SummedRow, UsageReading } from './usage-query.ts'

const ID_COLUMNS = { user_days: 'user_id', tag_days: 'tag_id' } as const

interface DaySpan {
  readonly table: CallerDayTableName
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Grouped: a row per user or tag, and rows for the calls without any, which are the rest of the
 * account's days. These sums do not tell refused calls from other failures.
 */
export async function* readCallerDays(
  database: Kysely<Schema>,
  reading: UsageReading,
  span: DaySpan,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { userId, tagId, groupBy } = reading.query
  const isWhole = userId === undefined && tagId === undefined
  const run = (query: CompiledQuery<SummedRow>) => querySummed(database, query)
  const slices = {
    ...span,
    leastMs: DAY_MS,
    rowCharacters: SUMMED_ROW_IN_CHARACTERS,
    turns: reading.turns,
  }
  if (isWhole && groupBy !== null) yield* readInBlocks(database, reading, span)
  else {
    const ask = compileNamed(database, reading, span)
    yield* readInSlices(database, slices, (slice) => run(ask(slice)))
  }
  if (!isWhole) return
  const ask = compileRest(database, reading, span)
  yield* readInSlices(database, slices, (slice) => run(ask(slice)))
}

function compileNamed(
  database: Kysely<Schema>,
  { accountId, query }: UsageReading,
  { table }: DaySpan,
): (slice: { fromMs: number; toMs: number }) => CompiledQuery<SummedRow> {
  const { groupBy, userId, tagId } = query
  const id = sql.ref(ID_COLUMNS[table])
  const filter = userId ?? tagId
  const isNamed = filter === undefined ? sql`${id} <> ${ANY_TAG}` : sql`${id} = ${filter}`
  const from = sql`${sql.table(table)} WHERE account_id = ${accountId}
    AND starts_at >= ${FROM} AND starts_at < ${TO} AND ${isNamed}`
  const group = groupBy === null ? undefined : id
  return compiledForSlices(selectSums(database, query, { from, group }).compile(database))
}

/**
 * The account's days without the days of the named users, or of the calls with any tag. Each table is
 * summed before the difference, because SQLite sums rows in the order of their days without sorting.
 */
function compileRest(
  database: Kysely<Schema>,
  { accountId, query }: UsageReading,
  { table }: DaySpan,
): (slice: { fromMs: number; toMs: number }) => CompiledQuery<SummedRow> {
  const within = sql`account_id = ${accountId} AND starts_at >= ${FROM} AND starts_at < ${TO}`
  const named =
    table === 'tag_days' ? sql`tag_days WHERE tag_id = ${ANY_TAG} AND` : sql`user_days WHERE`
  const columns = sql.join(SUMMED_DAY.map((name) => sql.ref(name)))
  const taken = sql.join(SUMMED_DAY.map((name) => sql`-${sql.ref(name)}`))
  const sums = sql.join(SUMMED_DAY.map((name) => sql`SUM(${sql.ref(name)}) AS ${sql.ref(name)}`))
  const whole = selectSums(database, query, { from: sql`usage_days WHERE ${within}` })
  const without = selectSums(database, query, { from: sql`${named} ${within}` })
  const hasSteps = query.interval !== 'all'
  return compiledForSlices(
    sql<SummedRow>`
      SELECT ${hasSteps ? sql`starts_at` : sql`MIN(starts_at) AS starts_at`},
        NULL AS ${sql.ref('group')}, ${sums}, 0 AS refused
      FROM (SELECT starts_at, ${columns} FROM (${whole}) AS whole
        UNION ALL SELECT starts_at, ${taken} FROM (${without}) AS named) AS rest
      ${hasSteps ? sql`GROUP BY starts_at` : sql``}
      HAVING SUM(calls) > 0`.compile(database),
  )
}

const SUMMED_DAY = [...COUNTERS, 'unpriced'] as const

function selectSums(
  database: Kysely<Schema>,
  { interval }: UsageReading['query'],
  { from, group }: { from: RawBuilder<unknown>; group?: RawBuilder<unknown> | undefined },
): RawBuilder<SummedRow> {
  const counters = COUNTERS.map((name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`)
  const startsAt = interval === 'all' ? sql`MIN(starts_at)` : sql`starts_at`
  const groups = [
    ...(interval === 'all' ? [] : [startsAt]),
    ...(group === undefined ? [] : [group]),
  ]
  return sql<SummedRow>`
    SELECT ${startsAt} AS starts_at, ${group ?? sql`NULL`} AS ${sql.ref('group')},
      ${sql.join(counters)}, 0 AS refused,
      SUM(CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END) AS unpriced
    FROM ${from}
    ${groups.length === 0 ? sql`` : sql`GROUP BY ${sql.join(groups)}`}
    HAVING SUM(calls) > 0`
}

// A day of thousands of users blocks the event loop for many milliseconds, so a statement reads some
// users of a month instead.

const DAYS_OF_BLOCK = 31
/** Rows that SQLite reads on the event loop, or that a server sends. */
const ROWS_OF_BLOCK = 1_000

async function* readInBlocks(
  database: Kysely<Schema>,
  { accountId, query, groups, turns }: UsageReading,
  { table, fromMs, toMs }: DaySpan,
): AsyncGenerator<ReadRows<SummedRow>> {
  const id = sql.ref(ID_COLUMNS[table])
  const group = toRanked(database, sql.ref(ID_COLUMNS[table]), groups)
  for (let startMs = fromMs; startMs < toMs; startMs += DAYS_OF_BLOCK * DAY_MS) {
    const endMs = Math.min(startMs + DAYS_OF_BLOCK * DAY_MS, toMs)
    const days: number[] = []
    for (let day = startMs; day < endMs; day += DAY_MS) days.push(day)
    // A server's rows of a user become one where the interval is the whole range, and less where
    // most users are in one group.
    const isFew = query.interval === 'all' || groups !== undefined
    const rowsOfUser = isFew && !isSqlite(database) ? 1 : days.length
    const usersOfDay = Math.ceil(ROWS_OF_BLOCK / rowsOfUser)
    const [ofDays, isOfDays] = listOf(database, days)
    const findEnd = sql<{ last: string | null }>`
      SELECT MIN((SELECT ${id} FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at = days.value AND ${id} > ${AFTER}
        ORDER BY ${id} LIMIT 1 OFFSET ${usersOfDay - 1})) AS last
      FROM ${ofDays}`.compile(database)
    const compileBlock = (until: RawBuilder<unknown>) => {
      const from = sql`(SELECT *, ${group} AS ${sql.ref('group')} FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at ${isOfDays} AND ${id} > ${AFTER} ${until}
          ${exceptBefore(database, sql.ref(ID_COLUMNS[table]), groups)}) AS block`
      return selectSums(database, query, { from, group: sql.ref('group') }).compile(database)
    }
    const [block, lastBlock] = [compileBlock(sql`AND ${id} <= ${UNTIL}`), compileBlock(sql``)]
    for (let after = ANY_TAG; ; ) {
      const { rows: ends } = await database.executeQuery(withBounds(findEnd, after))
      const last = ends[0]?.last ?? undefined
      const ofBlock = withBounds(last === undefined ? lastBlock : block, after, last)
      const rows = await querySummed(database, ofBlock)
      await turns.next()
      yield { rows, reachedMs: startMs }
      if (last === undefined) break
      after = last
    }
  }
}

export function listOf(
  database: Kysely<Schema>,
  days: readonly number[],
): readonly [table: RawBuilder<unknown>, isOne: RawBuilder<unknown>] {
  if (isSqlite(database)) {
    const list = sql`json_each(${JSON.stringify(days)})`
    return [sql`${list} AS days`, sql`IN (SELECT value FROM ${list})`]
  }
  const list = sql`cast(${`{${days.join(',')}}`} AS bigint[])`
  return [sql`unnest(${list}) AS days (value)`, sql`= ANY (${list})`]
}

const AFTER = Symbol('after')
const UNTIL = Symbol('until')

function withBounds<Row>(
  compiled: CompiledQuery<Row>,
  after: string,
  until?: string,
): CompiledQuery<Row> {
  const parameters = compiled.parameters.map((value) => {
    if (value === AFTER) return after
    return value === UNTIL ? until : value
  })
  return { ...compiled, parameters }
}

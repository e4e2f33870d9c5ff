/**
 * Sums of the calls that retention has left, with the columns of the sums by hour but without
 * histograms: for users, sessions, agents and tags, which have no sums by hour.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { NOTHING_SENT } from '../../core/cost.ts'
import type { UsageGroup } from '../../core/usage.ts'
import { isOneOf } from '../calls/call-pages.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { exceptBefore, toGroupColumn, toRanked } from './ranked-groups.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { COUNTERS, DAY_MS, HOUR_MS } from './usage-columns.ts'
import type { Slice, SummedRow, UsageReading } from './usage-query.ts'

const GROUP_COLUMNS: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  gate: sql`gate_id`,
  target: sql`target`,
  model: sql`target`,
  provider: sql`target`,
  key: sql`key_id`,
  status: sql`status / 100`,
  credential: sql`credential`,
  user: sql`user_id`,
  session: sql`session_id`,
  agent: sql`agent_id`,
  tag: sql`tag_ids`,
}

/** Columns whose values are the groups. */
const RANKED_COLUMNS: Readonly<Partial<Record<UsageGroup, string>>> = {
  gate: 'gate_id',
  target: 'target',
  key: 'key_id',
  user: 'user_id',
  agent: 'agent_id',
}

const isFailed = sql`outcome = 'failed'`
const isUnknown = sql`cost_status = 'unknown'`
const isNull = sql`input_tokens IS NULL`

/** As `addCall` counts a call. */
const COUNTED: Readonly<Record<(typeof COUNTERS)[number], RawBuilder<unknown>>> = {
  calls: sql`COUNT(*)`,
  failed: countOf(isFailed),
  cancelled: countOf(sql`outcome = 'cancelled'`),
  unreported: countOf(
    sql`${isNull} AND NOT ${isFailed} AND coalesce(price_source, '') <> ${sql.lit(NOTHING_SENT.source)}`,
  ),
  input_tokens: sql``,
  output_tokens: sql``,
  cached_input_tokens: sql``,
  reasoning_tokens: sql``,
  cache_write_tokens: sql``,
  cost_nano_usd: sql``,
  cost_estimated: countOf(sql`cost_status = 'estimated'`),
  cost_unknown: countOf(sql`${isUnknown} AND NOT (${isFailed} AND ${isNull})`),
}

const SUMMED_COLUMNS: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
])

function countOf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql`SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`
}

/** As `addCallerCall` counts a call. */
export const REFUSED_CALLS = countOf(
  sql`${isFailed} AND target IS NULL AND status BETWEEN 400 AND 499`,
)

/** Excludes calls that were refused before admission, because such calls used nothing. */
export function compileCalls(
  database: Kysely<Schema>,
  { accountId, query, groups }: UsageReading,
): (slice: Slice) => CompiledQuery<SummedRow> {
  const { groupBy, thenBy, interval } = query
  const name = groupBy === null || thenBy !== undefined ? undefined : RANKED_COLUMNS[groupBy]
  const column = name === undefined ? undefined : toGroupColumn(name, query)
  const columnOf = (kind: UsageGroup) =>
    kind === 'key' ? toGroupColumn('key_id', query) : GROUP_COLUMNS[kind]
  const group =
    groupBy !== null && (column ? toRanked(database, column, groups) : columnOf(groupBy))
  const stepMs = interval === 'hour' ? HOUR_MS : DAY_MS
  const step = sql`started_at - started_at % ${sql.lit(stepMs)}`
  const counters = COUNTERS.map((name) => {
    const counted = SUMMED_COLUMNS.has(name)
      ? sql`coalesce(${sumOf(database, name)}, 0)`
      : COUNTED[name]
    return sql`${counted} AS ${sql.ref(name)}`
  })
  const summed = sql.join([
    ...counters,
    sql`${REFUSED_CALLS} AS refused`,
    sql`${countOf(sql`${isUnknown} AND NOT ${isNull}`)} AS unpriced`,
  ])
  const places = [
    ...(interval === 'all' ? [] : [sql.ref('step')]),
    ...(groupBy === null ? [] : [sql.ref('group')]),
    ...(thenBy === undefined ? [] : [sql.ref('second')]),
  ]
  const filters = filtersOf(query)
  const before = column === undefined ? sql`` : exceptBefore(database, column, groups)
  return compiledForSlices(
    sql<SummedRow>`
      SELECT ${interval === 'all' ? sql`MIN(started_at)` : sql.ref('step')} AS starts_at,
        ${group ? sql`` : sql`NULL AS`} ${sql.ref('group')},
        ${thenBy === undefined ? sql`NULL AS` : sql``} second, ${summed}
      FROM (SELECT *, ${step} AS step ${group ? sql`, ${group} AS ${sql.ref('group')}` : sql``}
          ${thenBy === undefined ? sql`` : sql`, ${columnOf(thenBy)} AS second`} FROM calls
        WHERE account_id = ${accountId} AND started_at >= ${FROM} AND started_at < ${TO}
          AND refusals IS NULL ${filters} ${before}) AS counted
      ${places.length === 0 ? sql`` : sql`GROUP BY ${sql.join(places)}`}
      HAVING COUNT(*) > 0
    `.compile(database),
  )
}

/** SQLite uses the index of the calls with tags only if the condition says that there are tags. */
function filtersOf(query: UsageReading['query']): RawBuilder<unknown> {
  const { gateId, target, keyId, userId, sessionIds, agentIds, tagId } = query
  return sql.join(
    [
      ...(gateId === undefined ? [] : [sql`AND gate_id = ${gateId}`]),
      ...(target === undefined ? [] : [sql`AND target = ${target}`]),
      ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
      ...(userId === undefined ? [] : [sql`AND user_id = ${userId}`]),
      ...(sessionIds === undefined ? [] : [sql`AND ${isOneOf('session_id', sessionIds)}`]),
      ...(agentIds === undefined ? [] : [sql`AND ${isOneOf('agent_id', agentIds)}`]),
      ...(tagId === undefined
        ? []
        : [sql`AND tag_ids IS NOT NULL AND tag_ids LIKE ${`%${tagId}%`}`]),
    ],
    sql` `,
  )
}

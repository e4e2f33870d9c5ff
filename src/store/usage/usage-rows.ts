/**
 * Reads the rows for a usage query: whole days from the sums by day, everything else from the sums
 * by hour or, for users, sessions, agents and tags, from the calls.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { UsageGroup } from '../../core/usage.ts'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { compileCalls } from './call-row-sums.ts'
import { readCallerDays } from './caller-day-rows.ts'
import { exceptBefore, toGroupColumn, toRanked } from './ranked-groups.ts'
import { readInSlices } from './read-in-slices.ts'
import { findSessionSpan } from './session-span.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { IN_PARTS, querySummed } from './summed-rows.ts'
import { COUNTERS, DAY_MS, HOUR_MS, UNPRICED, type UsageTableName } from './usage-columns.ts'
import {
  RANKED,
  type ReadRows,
  type Slice,
  type Span,
  SUMMED,
  type SummedRow,
  type UsageQuery,
  type UsageReading,
} from './usage-query.ts'
import { sourcesOf } from './usage-sources.ts'

const GROUP_COLUMNS: Readonly<Partial<Record<UsageGroup, string>>> = {
  gate: 'gate_id',
  target: 'target',
  model: 'target',
  provider: 'target',
  key: 'key_id',
  status: 'status_class',
  credential: 'credential',
}

/**
 * An account's rows, in parts ordered by time. Several rows may belong to the same step and group.
 * @param transaction with repeatable reads, because hours may be deleted meanwhile
 */
export async function* readUsageRows(
  transaction: Kysely<Schema>,
  reading: UsageReading,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { turns, accountId, query } = reading
  const { sessionIds } = query
  const within = sessionIds && (await findSessionSpan(transaction, accountId, sessionIds))
  if (sessionIds !== undefined && within === undefined) return
  for (const source of sourcesOf(query)) {
    const span = {
      ...source,
      fromMs: Math.max(source.fromMs, within?.fromMs ?? source.fromMs),
      toMs: Math.min(source.toMs, within?.toMs ?? source.toMs),
    }
    const { table } = span
    if (table === 'user_days' || table === 'tag_days') {
      yield* readCallerDays(transaction, reading, { ...span, table })
      continue
    }
    const ask = compileSource(transaction, reading, table)
    const { firstMs, ...shortest } = SLICES[table]
    const hasHistograms = table !== 'calls' && reading.columns === undefined
    const slices = hasHistograms ? shortest : { ...shortest, firstMs, ...IN_PARTS }
    const columns = columnsOf(reading)
    yield* readInSlices<SummedRow>(transaction, { ...span, ...slices, turns }, async (slice) => {
      if (!hasHistograms) return await querySummed(transaction, ask(slice), { turns, columns })
      return (await transaction.executeQuery<SummedRow>(ask(slice))).rows
    })
  }
}

function columnsOf({ columns }: UsageReading): readonly string[] {
  const summed = columns === 'ranks' ? [...RANKED, 'refused'] : SUMMED
  return ['starts_at', 'group', 'second', ...summed]
}

function filterOf({ gateId, target, keyId }: UsageQuery): RawBuilder<unknown> {
  return sql.join(
    [
      ...(gateId === undefined ? [] : [sql`AND gate_id = ${gateId}`]),
      ...(target === undefined ? [] : [sql`AND target = ${target}`]),
      ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
    ],
    sql` `,
  )
}

const REFUSED = sql`CASE WHEN target = '' AND status_class = 4 THEN failed ELSE 0 END`
function compileSource(
  database: Kysely<Schema>,
  reading: UsageReading,
  table: UsageTableName | 'calls',
): (slice: Slice) => CompiledQuery<SummedRow> {
  if (table === 'calls') return compileCalls(database, reading)
  return compileSpan(database, reading, table)
}

/** The shortest slice of a table, and the first one of a server, without histograms. */
const SLICES: Readonly<
  Record<UsageTableName | 'calls', { readonly leastMs: number; readonly firstMs: number }>
> = {
  usage_hours: { leastMs: HOUR_MS, firstMs: 8 * DAY_MS },
  usage_days: { leastMs: DAY_MS, firstMs: 32 * DAY_MS },
  calls: { leastMs: 1_000, firstMs: HOUR_MS },
}

/**
 * Joins the histograms of a group in one text: a row per hour would cost more to transfer than to
 * read. Compiled once for all slices, because compiling takes Kysely 50 µs.
 */
function compileSpan(
  database: Kysely<Schema>,
  { accountId, query, columns, groups }: UsageReading,
  table: Span['table'],
): (slice: Slice) => CompiledQuery<SummedRow> {
  const { groupBy, thenBy, interval } = query
  const columnOf = (kind: UsageGroup | null | undefined) => {
    const name = kind == null ? undefined : GROUP_COLUMNS[kind]
    return name === undefined ? undefined : toGroupColumn(name, query)
  }
  const [column, second] = [columnOf(groupBy), columnOf(thenBy)]
  const ordered = isSqlite(database) ? orderedColumnsOf([groupBy, thenBy]) : []
  const isWhole = groupBy !== null && thenBy === undefined && WHOLE_GROUPS.has(groupBy)
  const ranked = isWhole && ordered.length === 0 ? groups : undefined
  const group = column && toRanked(database, column, ranked)
  const hasSteps = interval !== 'all' || ordered.length > 0
  const counters = [
    ...(columns === 'ranks' ? RANKED : COUNTERS).map(
      (name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`,
    ),
    sql`SUM(${REFUSED}) AS refused`,
  ]
  const details = [
    ...(columns === 'ranks' ? [] : [sql`SUM(${UNPRICED}) AS unpriced`]),
    ...(columns === undefined ? [joined('durations'), joined('first_bytes')] : []),
  ]
  const places = [
    ...(hasSteps ? [sql.ref('starts_at')] : []),
    ...(ordered.length > 0
      ? ordered.map((name) => sql.ref(name))
      : [group && sql.ref('group'), second && sql.ref('second')].filter(
          (place) => place !== undefined,
        )),
  ]
  const before = column === undefined ? sql`` : exceptBefore(database, column, ranked)
  return compiledForSlices(
    sql<SummedRow>`
      SELECT ${hasSteps ? sql.ref('starts_at') : sql`MIN(starts_at)`} AS starts_at,
        ${group === undefined ? sql`NULL AS` : sql``} ${sql.ref('group')},
        ${second === undefined ? sql`NULL AS` : sql``} second, ${sql.join([...counters, ...details])}
      FROM (SELECT * ${group === undefined ? sql`` : sql`, ${group} AS ${sql.ref('group')}`}
          ${second === undefined ? sql`` : sql`, ${second} AS second`} FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at >= ${FROM} AND starts_at < ${TO}
          ${filterOf(query)} ${before}) AS rows_of_slice
      ${places.length === 0 ? sql`` : sql`GROUP BY ${sql.join(places)}`}
      HAVING COUNT(*) > 0
    `.compile(database),
  )
}

const IN_ORDER: Readonly<Partial<Record<UsageGroup, number>>> = {
  gate: 1,
  target: 2,
  model: 2,
  provider: 2,
}

/**
 * The first columns of the primary key after the time, up to the last one of the groups. SQLite sums
 * rows in the order of the primary key without sorting them, in half the time, and the rows of a group
 * are added afterwards. Empty for groups of columns further behind, which have too many rows.
 */
function orderedColumnsOf(kinds: readonly (UsageGroup | null | undefined)[]): readonly string[] {
  const counts = kinds.flatMap((kind) => (kind == null ? [] : [IN_ORDER[kind] ?? 0]))
  if (counts.includes(0)) return []
  return ['gate_id', 'target'].slice(0, Math.max(0, ...counts))
}

/** Groups that a column holds as they are. */
const WHOLE_GROUPS: ReadonlySet<UsageGroup> = new Set(['gate', 'target', 'key'])

function joined(histograms: 'durations' | 'first_bytes') {
  const column = sql.ref(histograms)
  return sql`STRING_AGG(NULLIF(${column}, ''), ',') AS ${column}`
}

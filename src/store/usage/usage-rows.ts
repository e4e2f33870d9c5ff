/**
 * Reads the rows for a usage query: whole days from the sums by day, everything else from the sums
 * by hour or, for users, sessions, agents and tags, from the calls.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { UsageGroup } from '../../core/usage.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { compileCalls } from './call-row-sums.ts'
import { readCallerDays } from './caller-day-rows.ts'
import { exceptBefore, toGroupColumn, toRanked } from './ranked-groups.ts'
import { readInSlices, type Sliced } from './read-in-slices.ts'
import { findSessionSpan } from './session-span.ts'
import { compiledForSlices, FROM, TO } from './slice-parameters.ts'
import { querySummed, SUMMED_ROW_IN_CHARACTERS } from './summed-rows.ts'
import { COUNTERS, DAY_MS, HOUR_MS, type UsageTableName } from './usage-columns.ts'
import {
  RANKED,
  type ReadRows,
  type Slice,
  type Span,
  type SummedRow,
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
    const slices = { ...span, ...SLICES[table], turns }
    yield* readInSlices(transaction, slices, async (slice) => {
      if (table === 'calls') return await querySummed(transaction, ask(slice), ['second'])
      return (await transaction.executeQuery<SummedRow>(ask(slice))).rows
    })
  }
}

function compileSource(
  database: Kysely<Schema>,
  reading: UsageReading,
  table: UsageTableName | 'calls',
): (slice: Slice) => CompiledQuery<SummedRow> {
  if (table === 'calls') return compileCalls(database, reading)
  return compileSpan(database, reading, table)
}

/** The shortest slice of a table. */
const SLICES: Readonly<
  Record<UsageTableName | 'calls', Omit<Sliced, 'fromMs' | 'toMs' | 'turns'>>
> = {
  usage_hours: { leastMs: HOUR_MS },
  usage_days: { leastMs: DAY_MS },
  calls: { leastMs: 1_000, rowCharacters: SUMMED_ROW_IN_CHARACTERS },
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
  const { gateId, target, keyId, groupBy, thenBy, interval } = query
  const columnOf = (kind: UsageGroup | null | undefined) => {
    const name = kind == null ? undefined : GROUP_COLUMNS[kind]
    return name === undefined ? undefined : toGroupColumn(name, query)
  }
  const [column, second] = [columnOf(groupBy), columnOf(thenBy)]
  const isWhole = groupBy !== null && thenBy === undefined && WHOLE_GROUPS.has(groupBy)
  const ranked = isWhole ? groups : undefined
  const group = column === undefined ? sql`NULL` : toRanked(database, column, ranked)
  const startsAt = interval === 'all' ? sql`MIN(starts_at)` : sql.ref('starts_at')
  const counters = [
    ...(columns === 'ranks' ? RANKED : COUNTERS).map(
      (name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`,
    ),
    sql`SUM(CASE WHEN target = '' AND status_class = 4 THEN failed ELSE 0 END) AS refused`,
  ]
  const details = [
    ...(columns === 'ranks'
      ? []
      : [
          sql`SUM(CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END) AS unpriced`,
        ]),
    ...(columns === undefined ? [joined('durations'), joined('first_bytes')] : []),
  ]
  const places = [
    ...(interval === 'all' ? [] : [sql.ref('starts_at')]),
    sql.ref('group'),
    sql.ref('second'),
  ]
  const filters = [
    ...(gateId === undefined ? [] : [sql`AND gate_id = ${gateId}`]),
    ...(target === undefined ? [] : [sql`AND target = ${target}`]),
    ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
    ...(column === undefined ? [] : [exceptBefore(database, column, ranked)]),
  ]
  return compiledForSlices(
    sql<SummedRow>`
      SELECT ${startsAt} AS starts_at, ${sql.ref('group')}, second, ${sql.join([...counters, ...details])}
      FROM (SELECT *, ${group} AS ${sql.ref('group')},
        ${second ?? sql`NULL`} AS second FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at >= ${FROM} AND starts_at < ${TO}
          ${sql.join(filters, sql` `)}) AS rows_of_slice
      GROUP BY ${sql.join(places)}
    `.compile(database),
  )
}

/** Groups that a column holds as they are. */
const WHOLE_GROUPS: ReadonlySet<UsageGroup> = new Set(['gate', 'target', 'key'])

function joined(histograms: 'durations' | 'first_bytes') {
  const column = sql.ref(histograms)
  return sql`STRING_AGG(NULLIF(${column}, ''), ',') AS ${column}`
}

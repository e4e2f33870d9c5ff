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
import { readInSlices, type Sliced } from './read-in-slices.ts'
import { readSessionRows } from './session-rows.ts'
import { findSessionSpan } from './session-span.ts'
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
import { isOfWholeSessions, sourcesOf } from './usage-sources.ts'

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
  if (isOfWholeSessions(query)) {
    const all = { ...reading, query: { ...query, groupBy: null } }
    yield* readSessionRows(transaction, reading, readUsageRows(transaction, all))
    return
  }
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
      if (table === 'calls') return await querySummed(transaction, ask(slice))
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
  const compiled = compileSpan(database, reading, table)
  return (slice) => ({ ...compiled, parameters: toParameters(reading, slice) })
}

/** The shortest slice of a table, and the longest on a server, whose statements have a time limit. */
const SLICES: Readonly<
  Record<UsageTableName | 'calls', Omit<Sliced, 'fromMs' | 'toMs' | 'turns'>>
> = {
  usage_hours: { leastMs: HOUR_MS },
  usage_days: { leastMs: DAY_MS },
  calls: { leastMs: 1_000, mostMs: 7 * DAY_MS, rowCharacters: SUMMED_ROW_IN_CHARACTERS },
}

/**
 * Joins the histograms of a group in one text: a row per hour would cost more to transfer than to
 * read. Compiled once for all slices, because compiling takes Kysely 50 µs.
 */
function compileSpan(
  database: Kysely<Schema>,
  { accountId, query, isOfRanks }: UsageReading,
  table: Span['table'],
): CompiledQuery<SummedRow> {
  const { gateId, target, keyId, groupBy, interval } = query
  const groupColumn = groupBy === null ? undefined : GROUP_COLUMNS[groupBy]
  const group = groupColumn === undefined ? sql`NULL` : sql.ref(groupColumn)
  const startsAt = interval === 'all' ? sql`MIN(starts_at)` : sql.ref('starts_at')
  const counters = [
    ...(isOfRanks === true ? RANKED : COUNTERS).map(
      (name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`,
    ),
    sql`SUM(CASE WHEN target = '' AND status_class = 4 THEN failed ELSE 0 END) AS refused`,
  ]
  const details = [
    sql`SUM(CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END) AS unpriced`,
    joined('durations'),
    joined('first_bytes'),
  ]
  const groupings = [
    ...(interval === 'all' ? [] : [sql.ref('starts_at')]),
    ...(groupColumn === undefined ? [] : [sql.ref(groupColumn)]),
  ]
  const filters = [
    ...(gateId === undefined ? [] : [sql`AND gate_id = ${gateId}`]),
    ...(target === undefined ? [] : [sql`AND target = ${target}`]),
    ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
  ]
  const summed = sql.join(isOfRanks === true ? counters : [...counters, ...details])
  return sql<SummedRow>`
    SELECT ${startsAt} AS starts_at, ${group} AS ${sql.ref('group')}, ${summed}
    FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND starts_at >= ${0} AND starts_at < ${0}
      ${sql.join(filters, sql` `)}
    ${groupings.length === 0 ? sql`HAVING COUNT(*) > 0` : sql`GROUP BY ${sql.join(groupings)}`}
  `.compile(database)
}

function joined(histograms: 'durations' | 'first_bytes') {
  const column = sql.ref(histograms)
  return sql`STRING_AGG(NULLIF(${column}, ''), ',') AS ${column}`
}

function toParameters(
  { accountId, query: { gateId, target, keyId } }: UsageReading,
  { fromMs, toMs }: Slice,
): readonly unknown[] {
  const filters = [gateId, target, keyId].filter((filter) => filter !== undefined)
  return [accountId, fromMs, toMs, ...filters]
}

/**
 * Reads the rows for a usage query: whole days from `usage_days`, everything else from
 * `usage_hours`.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { LoopTurns } from '../../core/loop-turns.ts'
import { spanOf } from '../../core/period.ts'
import type { UsageGroup, UsageInterval } from '../../core/usage.ts'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { findHoursDeletedBefore } from './old-hours.ts'
import { COUNTERS, DAY_MS, HOUR_MS, type UsageTableName } from './usage-columns.ts'

export interface UsageQuery {
  readonly fromMs: number
  readonly toMs: number
  readonly interval: UsageInterval
  readonly groupBy: UsageGroup | null
  readonly gateId?: string
  readonly target?: string
  readonly keyId?: string
}

export interface Span {
  readonly table: UsageTableName
  readonly fromMs: number
  readonly toMs: number
}

export interface UsageReading {
  readonly accountId: AccountId
  readonly query: UsageQuery
  readonly turns: LoopTurns
  /** Whether only the measures for ranking are read, without histograms. */
  readonly isOfRanks?: true
}

export const SUMMED = [...COUNTERS, 'refused', 'unpriced'] as const

export type SummedRow = Readonly<Record<(typeof SUMMED)[number], number>> & {
  readonly starts_at: number
  readonly group: string | number | null
  readonly durations: string | null
  readonly first_bytes: string | null
}

const RANKED = ['calls', 'failed', 'input_tokens', 'output_tokens', 'cost_nano_usd'] as const

export type RankedRow = Pick<SummedRow, 'group' | 'refused' | (typeof RANKED)[number]>

const GROUP_COLUMNS = {
  gate: 'gate_id',
  target: 'target',
  key: 'key_id',
  status: 'status_class',
  credential: 'credential',
} as const

export class HoursDeletedError extends Error {
  override readonly name = 'HoursDeletedError'
  readonly beforeMs: number

  constructor(beforeMs: number) {
    super(`The hours before ${new Date(beforeMs).toISOString()} are deleted.`)
    this.beforeMs = beforeMs
  }
}

export interface ReadRows<Row> {
  readonly rows: readonly Row[]
  readonly reachedMs: number
}

/**
 * An account's rows, in parts ordered by time. Several rows may belong to the same step and group.
 * @param transaction with repeatable reads, because hours may be deleted meanwhile
 */
export async function* readUsageRows(
  transaction: Kysely<Schema>,
  reading: UsageReading,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { query, turns } = reading
  for (const { fromMs, toMs, table } of planSpans(query)) {
    const compiled = compileSpan(transaction, reading, table)
    const slices = { fromMs, toMs, leastMs: STEP_MS[table], turns }
    yield* readInSlices(transaction, slices, async (slice) => {
      const asked = { ...compiled, parameters: toParameters(reading, slice) }
      return (await transaction.executeQuery<SummedRow>(asked)).rows
    })
  }
}

/**
 * The query with an answerable range: widened to whole days where hours are deleted.
 * @param transaction the transaction that reads the rows
 * @throws HoursDeletedError
 */
export async function toAnswerable<Query extends UsageQuery>(
  transaction: Kysely<Schema>,
  query: Query,
): Promise<Query> {
  const deletedBefore = await findHoursDeletedBefore(transaction)
  const { fromMs, toMs, interval } = query
  if (fromMs >= deletedBefore) return query
  if (interval === 'hour') throw new HoursDeletedError(deletedBefore)
  return {
    ...query,
    fromMs: Math.floor(fromMs / DAY_MS) * DAY_MS,
    toMs: toMs < deletedBefore ? Math.ceil(toMs / DAY_MS) * DAY_MS : toMs,
  }
}

/**
 * Event loop time of a slice in milliseconds. A slower slice halves the number of days; a slice
 * below a third of this limit doubles the number of days.
 */
const SLICE_MS = 0.6
/**
 * Maximum size of a slice from a server, plus a fixed number per row: parsing this many characters
 * blocks the event loop for 0.5 ms.
 */
const SLICE_CHARACTERS = 120_000
const ROW_IN_CHARACTERS = 400
const LONGEST_SLICE_MS = 64 * DAY_MS

const STEP_MS = { usage_hours: HOUR_MS, usage_days: DAY_MS } as const

interface Slice {
  readonly fromMs: number
  readonly toMs: number
}

interface Sliced extends Slice {
  /** The duration that a row covers, and so the shortest slice. */
  readonly leastMs: number
  readonly turns: LoopTurns
}

export async function* readInSlices<Row extends object>(
  database: Kysely<Schema>,
  { fromMs, toMs, leastMs, turns }: Sliced,
  read: (slice: Slice) => Promise<readonly Row[]>,
): AsyncGenerator<ReadRows<Row>> {
  const isFile = isSqlite(database)
  let sliceMs = leastMs
  for (let startMs = fromMs; startMs < toMs; ) {
    const endMs = Math.min(startMs + sliceMs, toMs)
    const beganAt = performance.now()
    let characters = 0
    const rows = await read({ fromMs: startMs, toMs: endMs })
    for (const row of rows) characters += ROW_IN_CHARACTERS + lengthOfTexts(row)
    const share = isFile ? (performance.now() - beganAt) / SLICE_MS : characters / SLICE_CHARACTERS
    if (share > 1) sliceMs = Math.max(leastMs, sliceMs / 2)
    else if (share < 1 / 3) sliceMs = Math.min(LONGEST_SLICE_MS, sliceMs * 2)
    startMs = endMs
    // The loop was free while a server ran the query.
    if (isFile) await turns.next()
    else turns.begin()
    yield { rows, reachedMs: endMs }
  }
}

function lengthOfTexts(row: object): number {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}

export function toStart(
  startsAt: number,
  { interval, fromMs }: Pick<UsageQuery, 'interval' | 'fromMs'>,
): number {
  switch (interval) {
    case 'all':
      return fromMs
    case 'hour':
      return Math.floor(startsAt / HOUR_MS) * HOUR_MS
    case 'day':
      return Math.floor(startsAt / DAY_MS) * DAY_MS
    case 'month':
      return spanOf('month', startsAt).startsAtMs
  }
}

export function planSpans({
  fromMs,
  toMs,
  interval,
}: Pick<UsageQuery, 'fromMs' | 'toMs' | 'interval'>): readonly Span[] {
  const firstDayMs = Math.ceil(fromMs / DAY_MS) * DAY_MS
  const lastDayMs = Math.floor(toMs / DAY_MS) * DAY_MS
  if (interval === 'hour' || firstDayMs >= lastDayMs)
    return fromMs < toMs ? [{ table: 'usage_hours', fromMs, toMs }] : []
  const spans: readonly Span[] = [
    { table: 'usage_hours', fromMs, toMs: firstDayMs },
    { table: 'usage_days', fromMs: firstDayMs, toMs: lastDayMs },
    { table: 'usage_hours', fromMs: lastDayMs, toMs },
  ]
  return spans.filter((span) => span.fromMs < span.toMs)
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
  const group = groupBy === null ? sql`NULL` : sql.ref(GROUP_COLUMNS[groupBy])
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
    ...(groupBy === null ? [] : [sql.ref(GROUP_COLUMNS[groupBy])]),
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

/**
 * The rows of the roll-ups that answer a question. Whole months that are past are read from the
 * months' sums, whole days from the days', everything else from the hours', and to these comes what
 * waits to be added to them. Must not read single calls, nor add rows up.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { LoopTurns } from '../../core/loop-turns.ts'
import { spanOf } from '../../core/period.ts'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { findFoldedBefore } from './folded-before.ts'
import { readBacklog } from './usage-backlog.ts'
import { DAY_MS, HOUR_MS } from './usage-hours.ts'
import { COUNTERS } from './usage-note.ts'

export type UsageInterval = 'hour' | 'day' | 'month' | 'all'
export type UsageGroup = 'gate' | 'target' | 'key' | 'status' | 'credential'

export interface UsageQuery {
  /** Milliseconds since the Unix epoch, at the beginning of an hour; this hour included. */
  readonly fromMs: number
  /** At the beginning of an hour, which is left out. */
  readonly toMs: number
  readonly interval: UsageInterval
  readonly groupBy: UsageGroup | null
  readonly gateId?: string
  readonly target?: string
  readonly keyId?: string
}

export interface Span {
  readonly table: 'usage_hours' | 'usage_days' | 'usage_months'
  readonly fromMs: number
  readonly toMs: number
}

export interface UsageReading {
  readonly accountId: AccountId
  readonly query: UsageQuery
  readonly turns: LoopTurns
  /** Only the measures that groups are ranked by are asked for, and no histogram is read. */
  readonly isOfRanks?: true
}

/**
 * The sum of rows of usage: their counters, how many of `failed` were refused before any upstream
 * was asked, and how many calls reported usage that has no price.
 */
export const SUMMED = [...COUNTERS, 'refused', 'unpriced'] as const

export type SummedRow = Readonly<Record<(typeof SUMMED)[number], number>> & {
  readonly starts_at: number
  readonly group: string | number | null
  readonly durations: string | null
  readonly first_bytes: string | null
}

const RANKED = ['calls', 'failed', 'input_tokens', 'output_tokens', 'cost_nano_usd'] as const

/** The part of a row that its group is ranked by. */
export type RankedRow = Pick<SummedRow, 'group' | 'refused' | (typeof RANKED)[number]>

const GROUP_COLUMNS = {
  gate: 'gate_id',
  target: 'target',
  key: 'key_id',
  status: 'status_class',
  credential: 'credential',
} as const

/** Hours were asked for one by one, and those before this time are folded to days. */
export class HoursFoldedError extends Error {
  override readonly name = 'HoursFoldedError'
  /** Milliseconds since the Unix epoch, at the beginning of a day. */
  readonly beforeMs: number

  constructor(beforeMs: number) {
    super(`The hours before ${new Date(beforeMs).toISOString()} are folded to days.`)
    this.beforeMs = beforeMs
  }
}

/** Rows of usage, and up to where all that there is has been read. */
export interface ReadRows<Row> {
  readonly rows: readonly Row[]
  readonly reachedMs: number
}

/**
 * Of one account, some at a time, in the order of time but for the first, which wait to be added to
 * the hours. Rows of the same step and group may be several.
 * @param transaction of repeatable reads: between two moments a note could be added to hours that
 *   were read, or had been read, without it
 */
export async function* readUsageRows(
  transaction: Kysely<Schema>,
  reading: UsageReading,
): AsyncGenerator<ReadRows<SummedRow>> {
  const { accountId, query, turns } = reading
  yield { rows: await readNotes(transaction, accountId, query), reachedMs: query.fromMs }
  for (const span of await planSpans(transaction, accountId, query)) {
    const { fromMs, toMs, table } = span
    const compiled = compileSpan(transaction, reading, table)
    const slices = { fromMs, toMs, leastMs: STEP_MS[table], turns }
    yield* readInSlices(transaction, slices, async (slice) => {
      const asked = { ...compiled, parameters: toParameters(reading, slice) }
      return (await transaction.executeQuery<SummedRow>(asked)).rows
    })
  }
}

/**
 * The question as it can be answered: where hours are folded, its range is of whole days.
 * @param transaction the one that reads the rows: a day that is folded meanwhile is either whole or
 *   hours
 * @throws HoursFoldedError
 */
export async function toTellable<Query extends UsageQuery>(
  transaction: Kysely<Schema>,
  accountId: AccountId,
  asked: Query,
): Promise<Query> {
  return toTellableRange(asked, await findFoldedBefore(transaction, accountId))
}

function toTellableRange<Query extends UsageQuery>(query: Query, foldedBeforeMs: number): Query {
  const { fromMs, toMs, interval } = query
  if (fromMs >= foldedBeforeMs) return query
  if (interval === 'hour') throw new HoursFoldedError(foldedBeforeMs)
  return {
    ...query,
    fromMs: Math.floor(fromMs / DAY_MS) * DAY_MS,
    toMs: toMs < foldedBeforeMs ? Math.ceil(toMs / DAY_MS) * DAY_MS : toMs,
  }
}

/**
 * Of the event loop: a slice that takes more is followed by one of half the days, one that takes
 * less than a third of it by one of twice as many.
 */
const SLICE_MS = 0.6
/**
 * A server's time holds nobody up here, what it answers does: half a millisecond to read so many
 * characters, of which a row counts for some.
 */
const SLICE_CHARACTERS = 120_000
const ROW_IN_CHARACTERS = 400
/** A quiet year may lie before a busy day. */
const LONGEST_SLICE_MS = 64 * DAY_MS

const STEP_MS = { usage_hours: HOUR_MS, usage_days: DAY_MS, usage_months: 28 * DAY_MS } as const

interface Slice {
  readonly fromMs: number
  readonly toMs: number
}

interface Sliced extends Slice {
  /** The rows that are read are sums of this: no slice is shorter. */
  readonly leastMs: number
  readonly turns: LoopTurns
}

/** Calls go on between the slices. */
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
    // Others had their turn while the server was asked.
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

/** The beginning of the step that a row belongs to. */
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

/** Neighbouring days, or months, of the same kind are one span: one query each. */
export async function planSpans(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, interval }: Pick<UsageQuery, 'fromMs' | 'toMs' | 'interval'>,
): Promise<readonly Span[]> {
  if (interval === 'hour') return [{ table: 'usage_hours', fromMs, toMs }]
  const spans = new Spans(fromMs)
  if (interval !== 'day')
    for (const month of await listRolled(database, 'usage_rolled_months', {
      accountId,
      fromMs,
      toMs,
    })) {
      const { endsAtMs } = spanOf('month', month)
      if (endsAtMs > toMs) continue
      await planDays(database, accountId, { spans, toMs: month })
      spans.add('usage_months', endsAtMs)
    }
  await planDays(database, accountId, { spans, toMs })
  return spans.all
}

/** From where the spans end. */
async function planDays(
  database: Kysely<Schema>,
  accountId: AccountId,
  { spans, toMs }: { readonly spans: Spans; readonly toMs: number },
): Promise<void> {
  const range = { accountId, fromMs: spans.reachedMs, toMs: toMs - DAY_MS + 1 }
  if (range.fromMs < range.toMs)
    for (const day of await listRolled(database, 'usage_rolled_days', range)) {
      spans.add('usage_hours', day)
      spans.add('usage_days', day + DAY_MS)
    }
  spans.add('usage_hours', toMs)
}

/** The beginnings of those that begin in this stretch of time, in its order. */
async function listRolled(
  database: Kysely<Schema>,
  table: 'usage_rolled_days' | 'usage_rolled_months',
  { accountId, fromMs, toMs }: { accountId: AccountId; fromMs: number; toMs: number },
): Promise<readonly number[]> {
  const rows = await database
    .selectFrom(table)
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
    .where('starts_at', '<', toMs)
    .orderBy('starts_at')
    .execute()
  return rows.map(({ starts_at }) => starts_at)
}

/** One after the other, without a gap. */
class Spans {
  readonly all: Span[] = []
  reachedMs: number

  constructor(fromMs: number) {
    this.reachedMs = fromMs
  }

  /** Up to there, nothing where that is reached already. */
  add(table: Span['table'], toMs: number): void {
    if (toMs <= this.reachedMs) return
    const last = this.all.at(-1)
    const fromMs = last?.table === table ? last.fromMs : this.reachedMs
    if (last?.table === table) this.all.pop()
    this.all.push({ table, fromMs, toMs })
    this.reachedMs = toMs
  }
}

/**
 * Histograms come joined as one text for each group: a row for each hour would cost more to hand
 * over than to read. Made once for all slices, for Kysely takes a twentieth of a millisecond.
 */
function compileSpan(
  database: Kysely<Schema>,
  { accountId, query, isOfRanks }: UsageReading,
  table: Span['table'],
): CompiledQuery<SummedRow> {
  const { gateId, target, keyId, groupBy, interval } = query
  const group = groupBy === null ? sql`NULL` : sql.ref(GROUP_COLUMNS[groupBy])
  // Days and hours are separate rows only where the answer keeps them apart.
  const startsAt = interval === 'all' ? sql`MIN(starts_at)` : sql.ref('starts_at')
  const counters = [
    ...(isOfRanks === true ? RANKED : COUNTERS).map(
      (name) => sql`${sumOf(database, name)} AS ${sql.ref(name)}`,
    ),
    sql`SUM(CASE WHEN target = '' AND status_class = 4 THEN failed ELSE 0 END) AS refused`,
  ]
  const details = [
    // For each row by itself, as in usage-pages.ts.
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

/** In the order of `compileSpan`. */
function toParameters(
  { accountId, query: { gateId, target, keyId } }: UsageReading,
  { fromMs, toMs }: Slice,
): readonly unknown[] {
  const filters = [gateId, target, keyId].filter((filter) => filter !== undefined)
  return [accountId, fromMs, toMs, ...filters]
}

/** Those of the account's notes that are asked for. */
async function readNotes(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, groupBy, gateId, target, keyId }: UsageQuery,
): Promise<SummedRow[]> {
  const rows = await readBacklog(database, accountId)
  return rows
    .filter(
      (row) =>
        row.starts_at >= fromMs &&
        row.starts_at < toMs &&
        (gateId === undefined || row.gate_id === gateId) &&
        (target === undefined || row.target === target) &&
        (keyId === undefined || row.key_id === keyId),
    )
    .map((row) => ({
      ...row,
      refused: row.target === '' && row.status_class === 4 ? row.failed : 0,
      unpriced: Math.max(0, row.cost_unknown - row.unreported),
      group: groupBy === null ? null : row[GROUP_COLUMNS[groupBy]],
    }))
}

/**
 * Adds the rows of one account's stretch of time up to one row a place. Must not know when that is
 * due.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { joinEncoded } from './latency-histogram.ts'
import { boundSums, isAfterPlace, PLACE_COLUMNS } from './usage-hours.ts'
import { COUNTERS, MEMBERS } from './usage-note.ts'

/** Rows read at a time: about a millisecond of the event loop. */
const ROWS_PER_STEP = 250
const ROWS_PER_INSERT = 32
/**
 * Histograms that are longer than this together are counted, and become shorter than it; joining
 * them costs less.
 */
const MAX_JOINED = 16_384

/** By name: a column that a later version has added to the hours need not be one of the days. */
const COLUMNS = ['account_id', ...MEMBERS] as const

/** Sums up periods that are over at a moment, step by step. */
export interface RollUpPass {
  readonly nowMs: number
  /** Ends it after the step that it is at. */
  readonly signal: AbortSignal | undefined
  /** Awaited between steps. */
  readonly between: () => Promise<unknown>
}

export interface RollUp {
  readonly accountId: AccountId
  readonly from: {
    readonly table: 'usage_hours' | 'usage_days'
    readonly fromMs: number
    readonly toMs: number
  }
  /**
   * The table of the sums, in place of those that are there from this time on up to `untilMs`;
   * absent: of this time alone.
   */
  readonly into: {
    readonly table: 'usage_hours' | 'usage_days' | 'usage_months'
    readonly startsAt: number
    readonly untilMs?: number
  }
  /** The same histogram, each bucket once. */
  readonly shorten: (histogram: string) => string
}

/** @param transaction has the turn at the account's usage */
export async function sumUpRows(transaction: Kysely<Schema>, rollUp: RollUp): Promise<void> {
  const { accountId, into, shorten } = rollUp
  const sums = new Map<string, UsageTable>()
  let last: UsageTable | undefined
  for (;;) {
    const rows = await readRows(transaction, rollUp, last)
    for (const row of rows) addRow(sums, row, rollUp)
    if (rows.length < ROWS_PER_STEP) break
    last = rows.at(-1)
    await nextTurn()
  }
  while ((await deleteSome(transaction, { accountId, into })) === ROWS_PER_STEP) await nextTurn()
  const rows = [...sums.values()]
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT).map((row) => ({
      ...boundSums(row),
      durations: shorten(row.durations),
      first_bytes: shorten(row.first_bytes),
    }))
    await transaction.insertInto(into.table).values(some).execute()
    await nextTurn()
  }
}

/** In the order of their places, after the last one. */
async function readRows(
  transaction: Kysely<Schema>,
  { accountId, from }: RollUp,
  last: UsageTable | undefined,
): Promise<UsageTable[]> {
  const rows = transaction
    .selectFrom(from.table)
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .where('starts_at', '<', from.toMs)
    .orderBy(PLACE_COLUMNS)
    .limit(ROWS_PER_STEP)
  if (last === undefined) return await rows.where('starts_at', '>=', from.fromMs).execute()
  return await rows.where(isAfterPlace(last)).execute()
}

/** @returns how many rows of what was summed up before; there may be more */
async function deleteSome(
  transaction: Kysely<Schema>,
  { accountId, into }: Pick<RollUp, 'accountId' | 'into'>,
): Promise<number> {
  const { table, startsAt, untilMs = startsAt + 1 } = into
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND starts_at >= ${startsAt} AND starts_at < ${untilMs}
      AND (${PLACE_COLUMNS}) IN (
        SELECT ${PLACE_COLUMNS} FROM ${sql.table(table)}
        WHERE account_id = ${accountId} AND starts_at >= ${startsAt} AND starts_at < ${untilMs}
        LIMIT ${ROWS_PER_STEP}
      )
  `.execute(transaction)
  return Number(numAffectedRows)
}

/**
 * Histograms are joined as text here and counted when they are long, and at the end: many at once
 * would take much memory.
 */
function addRow(sums: Map<string, UsageTable>, row: UsageTable, { into, shorten }: RollUp): void {
  const place = [row.gate_id, row.target, row.key_id, row.status_class, row.credential].join(
    '\u0000',
  )
  const sum = sums.get(place)
  if (sum === undefined) {
    sums.set(place, { ...row, starts_at: into.startsAt })
    return
  }
  const join = (before: string, more: string) => {
    const joined = joinEncoded(before, more)
    return joined.length > MAX_JOINED ? shorten(joined) : joined
  }
  for (const name of COUNTERS) sum[name] += row[name]
  sum.durations = join(sum.durations, row.durations)
  sum.first_bytes = join(sum.first_bytes, row.first_bytes)
}

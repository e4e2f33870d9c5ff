/**
 * Pages of the log under any filter, newest first. The rows that a page looks at bound its cost,
 * whatever the filter: where few calls pass, a page comes short, with the place to go on from.
 */
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { CallOutcome, CallRecord } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { rarely } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { toRecord } from './call-rows.generated.ts'

/** Rows of the leading index looked at for one page: some sixty milliseconds. */
const MAX_CANDIDATES = 40_000

export interface CallFilter {
  /** Milliseconds since the Unix epoch; this one included. */
  readonly fromMs?: number
  /** This one left out. */
  readonly toMs?: number
  readonly gateId?: string
  readonly keyId?: string
  readonly target?: string
  readonly status?: number
  /** 4 for 400 to 499. */
  readonly statusClass?: number
  readonly outcome?: CallOutcome
  readonly errorKind?: string
  readonly stream?: boolean
  /** So long or longer. */
  readonly durationFromMs?: number
  /** Shorter than that. */
  readonly durationToMs?: number
  readonly firstByteFromMs?: number
  readonly firstByteToMs?: number
}

/** Where the last page ended: the place of its last row in the order newest first. */
export interface CallPosition {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly id: string
}

export interface CallPage {
  readonly limit: number
  /** Only what comes after this place. */
  readonly before?: CallPosition
}

export interface CallPageResult {
  readonly calls: readonly CallRecord[]
  /** Where to go on when the page came short although older calls have not been looked at. */
  readonly goOnBefore?: CallPosition
}

type Condition = (eb: ExpressionBuilder<Schema, 'calls'>) => Expression<SqlBool>

export async function findCallPage(
  database: Kysely<Schema>,
  accountId: AccountId,
  asked: { readonly filter: CallFilter; readonly page: CallPage; readonly maxCandidates?: number },
): Promise<CallPageResult> {
  const { filter, page, maxCandidates = MAX_CANDIDATES } = asked
  const { leading, others } = splitConditions(filter, database)
  const within = (floorMs: number | undefined): Condition[] => {
    const conditions: Condition[] = [(eb) => eb('account_id', '=', accountId), ...leading]
    const fromMs = floorMs ?? filter.fromMs
    const { before } = page
    if (fromMs !== undefined) conditions.push((eb) => eb('started_at', '>=', fromMs))
    const { toMs } = filter
    if (toMs !== undefined) conditions.push((eb) => eb('started_at', '<', toMs))
    if (before !== undefined) {
      // It follows from the next one, of which Postgres does not know how few rows pass it.
      conditions.push((eb) => eb('started_at', '<=', before.startedAt))
      conditions.push(({ eb, refTuple, tuple }) =>
        eb(refTuple('started_at', 'id'), '<', tuple(before.startedAt, before.id as CallId)),
      )
    }
    return conditions
  }

  let floorMs: number | undefined
  if (others.length > 0) {
    // Without the id, this is answered by the index alone.
    const last = await database
      .selectFrom('calls')
      .select('started_at')
      .where((eb) => eb.and([eb('account_id', '=', accountId), ...leading.map((each) => each(eb))]))
      .where('started_at', '>=', filter.fromMs ?? 0)
      .where('started_at', '<=', latestMs(filter, page))
      .orderBy('started_at', 'desc')
      .offset(maxCandidates)
      .limit(1)
      .executeTakeFirst()
    floorMs = last?.started_at
  }
  const rows = await database
    .selectFrom('calls')
    .selectAll()
    .where((eb) => eb.and([...within(floorMs), ...others].map((condition) => condition(eb))))
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  const calls = rows.map(toRecord)
  // Everything of the floor's own millisecond has been looked at; no id is before the empty one.
  return floorMs !== undefined && calls.length < page.limit
    ? { calls, goOnBefore: { startedAt: floorMs, id: '' } }
    : { calls }
}

/**
 * The last millisecond that has calls of this page; where the place before has no id, all of its
 * own have been seen.
 */
function latestMs(filter: CallFilter, { before }: CallPage): number {
  const toMs = (filter.toMs ?? Number.MAX_SAFE_INTEGER) - 1
  if (before === undefined) return toMs
  return Math.min(toMs, before.id === '' ? before.startedAt - 1 : before.startedAt)
}

/** The filter that leads has an index; the others are put so that no index is chosen for them. */
function splitConditions(
  filter: CallFilter,
  database: Kysely<Schema>,
): { leading: Condition[]; others: Condition[] } {
  const leading: Condition[] = []
  const others: Condition[] = []
  const { target, status, statusClass, outcome, errorKind, stream } = filter
  const isAboutTrouble =
    errorKind !== undefined ||
    (outcome !== undefined && outcome !== 'succeeded') ||
    (status ?? 0) >= 400 ||
    (statusClass ?? 0) >= 4
  // Word for word as in the index, or it is not used.
  if (isAboutTrouble) leading.push(() => sql<SqlBool>`(outcome <> 'succeeded' OR status >= 400)`)
  const columns = [
    ['key_id', filter.keyId],
    ['gate_id', filter.gateId],
  ] as const
  for (const [column, value] of columns) {
    if (value === undefined) continue
    if (leading.length === 0)
      leading.push(() => rarely(database, sql<SqlBool>`${sql.ref(column)} = ${value}`))
    else others.push(() => sql<SqlBool>`coalesce(${sql.ref(column)}, '') = ${value}`)
  }
  if (target !== undefined) others.push((eb) => eb('target', '=', target))
  if (status !== undefined) others.push((eb) => eb('status', '=', status))
  if (statusClass !== undefined) {
    others.push((eb) => eb.between('status', statusClass * 100, statusClass * 100 + 99))
  }
  if (outcome !== undefined) others.push((eb) => eb('outcome', '=', outcome))
  if (errorKind !== undefined) others.push(() => sql<SqlBool>`error_kind = ${errorKind}`)
  if (stream !== undefined) others.push((eb) => eb('stream', '=', stream ? 1 : 0))
  const times = [
    ['duration_ms', filter.durationFromMs, filter.durationToMs],
    ['first_byte_ms', filter.firstByteFromMs, filter.firstByteToMs],
  ] as const
  for (const [column, fromMs, toMs] of times) {
    if (fromMs !== undefined) others.push((eb) => eb(column, '>=', fromMs))
    if (toMs !== undefined) others.push((eb) => eb(column, '<', toMs))
  }
  return { leading, others }
}

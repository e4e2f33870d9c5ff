/**
 * Pages of the log under any filter, newest first, searched in the order of time, a few calls per
 * turn of the event loop. The number of calls examined bounds a page's cost: when few match, the
 * page is short and says where to continue.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { CallOutcome, CallRecord } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { isSqlite, rowsAsJson } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { CALL_COLUMN_NAMES, type CallValues, toRecord, toTableRow } from './call-rows.ts'

/** Calls examined for one page: about fifty milliseconds of SQLite, in steps. */
const MAX_ROWS = 100_000
/**
 * The index contains keys and gates, so a filter on these reads only matching rows: about 150
 * milliseconds.
 */
const MAX_ENTRIES = 1_000_000
/**
 * Postgres reads index entries twice, and rows too before a vacuum: up to half a microsecond each.
 */
const MAX_ENTRIES_OF_POSTGRES = 300_000
/** Examined in one turn of the event loop: a millisecond, or two when each row is read. */
const STEP_OF_SQLITE = 4_000
/** Server work does not block this loop. Each step is twice as long as the one before. */
const FIRST_STEP_OF_POSTGRES = 10_000

const PAGE_AS_JSON = rowsAsJson('page', CALL_COLUMN_NAMES).as('rows')

const ANY_CODE = 'any'
/** Characters that `LIKE` would interpret, and its escape character. */
const WILDCARDS = /[%_!]/g

export interface CallFilter {
  /** Milliseconds since the Unix epoch, inclusive. */
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
  readonly gateId?: string
  readonly keyId?: string
  readonly target?: string
  /** In upper or lower case, anywhere in the target's name. */
  readonly targetPart?: string
  readonly status?: number
  /** 4 for 400 to 499. */
  readonly statusClass?: number
  readonly outcome?: CallOutcome
  readonly errorKind?: string
  /** The code of the gateway's own refusals; `any`: all of them. */
  readonly refused?: string
  readonly stream?: boolean
  /** Inclusive. */
  readonly durationFromMs?: number
  /** Exclusive. */
  readonly durationToMs?: number
  readonly firstByteFromMs?: number
  readonly firstByteToMs?: number
}

/** The end of the last page: the position of its last row, newest first. */
export interface CallPosition {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly id: string
}

export interface CallPage {
  readonly limit: number
  /** Only calls after this position. */
  readonly before?: CallPosition
}

export interface CallPageResult {
  readonly calls: readonly CallRecord[]
  /** Where to continue when a page is short because not all older calls were examined. */
  readonly goOnBefore?: CallPosition
}

type Condition = (eb: ExpressionBuilder<Schema, 'calls'>) => Expression<SqlBool>

interface Search {
  readonly filter: CallFilter
  readonly page: CallPage
  /** Limits of calls examined per page, and in the first step; for tests. */
  readonly maxCandidates?: number
  readonly step?: number
}

export async function findCallPage(
  database: Kysely<Schema>,
  accountId: AccountId,
  { filter, page, ...bounds }: Search,
): Promise<CallPageResult> {
  const { leading, others, isOfIndex } = splitConditions(filter)
  const isOfFile = isSqlite(database)
  const ofAccount: Condition[] = [(eb) => eb('account_id', '=', accountId), ...leading]
  const find = async ({ before, limit }: CallPage, floorMs: number | undefined) => {
    const within = withinTimes({ fromMs: floorMs ?? filter.fromMs, toMs: filter.toMs, before })
    const query = database
      .selectFrom('calls')
      .selectAll()
      .where((eb) => eb.and([...ofAccount, ...within, ...others].map((each) => each(eb))))
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    if (isOfFile) return (await query.execute()).map(toRecord)
    const { rows } = await database
      .selectFrom(query.as('page'))
      .select(PAGE_AS_JSON)
      .executeTakeFirstOrThrow()
    if (rows === null) return []
    // The driver has worked on these rows; now others get their turn.
    await nextTurn()
    return (JSON.parse(rows) as CallValues[]).map((values) => toRecord(toTableRow(values)))
  }
  if (others.length === 0) return { calls: await find(page, undefined) }

  const maxEntries = isOfFile ? MAX_ENTRIES : MAX_ENTRIES_OF_POSTGRES
  let left = bounds.maxCandidates ?? (isOfIndex ? maxEntries : MAX_ROWS)
  let step = bounds.step ?? (isOfFile ? STEP_OF_SQLITE : FIRST_STEP_OF_POSTGRES)
  const calls: CallRecord[] = []
  let { before } = page
  for (;;) {
    step = Math.min(step, left)
    // Without the id, the index alone answers this.
    const last = await database
      .selectFrom('calls')
      .select('started_at')
      .where((eb) => eb.and(ofAccount.map((each) => each(eb))))
      .where('started_at', '>=', filter.fromMs ?? 0)
      .where('started_at', '<=', latestMs(filter, before))
      .orderBy('started_at', 'desc')
      .offset(step)
      .limit(1)
      .executeTakeFirst()
    const wanted = page.limit - calls.length
    const asked = before === undefined ? { limit: wanted } : { limit: wanted, before }
    calls.push(...(await find(asked, last?.started_at)))
    if (last === undefined || calls.length === page.limit) return { calls }
    // Every call of that millisecond was examined; no id sorts before the empty one.
    before = { startedAt: last.started_at, id: '' }
    left -= step
    if (left <= 0) return { calls, goOnBefore: before }
    if (!isOfFile) step *= 2
    await nextTurn()
  }
}

function withinTimes(times: {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
  readonly before: CallPosition | undefined
}): Condition[] {
  const { fromMs, toMs, before } = times
  const conditions: Condition[] = []
  if (fromMs !== undefined) conditions.push((eb) => eb('started_at', '>=', fromMs))
  if (toMs !== undefined) conditions.push((eb) => eb('started_at', '<', toMs))
  if (before !== undefined) {
    // Implied by the next condition, for which Postgres cannot estimate how few rows match.
    conditions.push((eb) => eb('started_at', '<=', before.startedAt))
    conditions.push(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_at', 'id'), '<', tuple(before.startedAt, before.id as CallId)),
    )
  }
  return conditions
}

/**
 * The last millisecond with calls of this page. A position without an id means that its whole
 * millisecond was examined.
 */
function latestMs(filter: CallFilter, before: CallPosition | undefined): number {
  const toMs = (filter.toMs ?? Number.MAX_SAFE_INTEGER) - 1
  if (before === undefined) return toMs
  return Math.min(toMs, before.id === '' ? before.startedAt - 1 : before.startedAt)
}

interface SplitConditions {
  /** It has its own index. */
  readonly leading: readonly Condition[]
  readonly others: readonly Condition[]
  /** The index of all calls contains the columns of the other conditions. */
  readonly isOfIndex: boolean
}

function splitConditions(filter: CallFilter): SplitConditions {
  const leading: Condition[] = []
  const others: Condition[] = []
  const { gateId, keyId, target, status, statusClass, outcome, errorKind, refused, stream } = filter
  const isAboutTrouble =
    errorKind !== undefined ||
    refused !== undefined ||
    (outcome !== undefined && outcome !== 'succeeded') ||
    (status ?? 0) >= 400 ||
    (statusClass ?? 0) >= 4
  // Must match the index's condition literally, or Postgres does not use it.
  if (isAboutTrouble) leading.push(() => sql<SqlBool>`(outcome <> 'succeeded' OR status >= 400)`)
  const columns = [
    ['key_id', keyId],
    ['gate_id', gateId],
  ] as const
  for (const [column, value] of columns) {
    if (value === undefined) continue
    // Prevents another index from being used for the few failed calls.
    const known = isAboutTrouble ? sql`coalesce(${sql.ref(column)}, '')` : sql.ref(column)
    others.push(() => sql<SqlBool>`${known} = ${value}`)
  }
  const ofIndex = isAboutTrouble ? 0 : others.length
  if (target !== undefined) others.push((eb) => eb('target', '=', target))
  const { targetPart } = filter
  if (targetPart !== undefined) {
    const pattern = `%${targetPart.toLowerCase().replaceAll(WILDCARDS, '!$&')}%`
    others.push(() => sql<SqlBool>`lower(target) LIKE ${pattern} ESCAPE '!'`)
  }
  if (status !== undefined) others.push((eb) => eb('status', '=', status))
  if (statusClass !== undefined) {
    others.push((eb) => eb.between('status', statusClass * 100, statusClass * 100 + 99))
  }
  if (outcome !== undefined) others.push((eb) => eb('outcome', '=', outcome))
  if (errorKind !== undefined) others.push(() => sql<SqlBool>`error_kind = ${errorKind}`)
  if (refused === ANY_CODE) others.push((eb) => eb('refusal_code', 'is not', null))
  else if (refused !== undefined) others.push((eb) => eb('refusal_code', '=', refused))
  if (stream !== undefined) others.push((eb) => eb('stream', '=', stream ? 1 : 0))
  const times = [
    ['duration_ms', filter.durationFromMs, filter.durationToMs],
    ['first_byte_ms', filter.firstByteFromMs, filter.firstByteToMs],
  ] as const
  for (const [column, fromMs, toMs] of times) {
    if (fromMs !== undefined) others.push((eb) => eb(column, '>=', fromMs))
    if (toMs !== undefined) others.push((eb) => eb(column, '<', toMs))
  }
  return { leading, others, isOfIndex: others.length === ofIndex }
}

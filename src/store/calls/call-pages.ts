/**
 * Reads pages of the call log, newest first, in steps. The number of examined calls bounds the cost
 * of a page, so a page with few matches may be short.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import type { CallOutcome, CallRecord } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { containsText, isSqlite, rowsAsJson } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import {
  CALL_COLUMN_NAMES,
  type CallTable,
  type CallValues,
  toRecord,
  toTableRow,
} from './call-rows.ts'

/** Calls examined for one page: about 50 ms of SQLite, in steps. */
const MAX_ROWS = 100_000
/**
 * Index entries examined for one page when the index alone can evaluate the filter: about 150 ms.
 */
const MAX_ENTRIES = 1_000_000
/** Postgres reads index entries twice, and rows too before a vacuum: up to 0.5 µs each. */
const MAX_ENTRIES_OF_POSTGRES = 300_000
/** Calls examined per step: 1 ms of the event loop, or 2 ms when the step reads each row. */
const STEP_OF_SQLITE = 4_000
const FIRST_STEP_OF_POSTGRES = 10_000

const PAGE_AS_JSON = rowsAsJson('page', CALL_COLUMN_NAMES).as('rows')

const ANY_CODE = 'any'
/** `unpriced` is the source of estimates; uses of tools may follow it. */
const UNPRICED = sql<SqlBool>`(
  (cost_nano_usd IS NULL AND input_tokens IS NOT NULL)
  OR coalesce(price_source, '') LIKE 'unpriced%'
)`

/** The attribution of a call, as in its columns. */
export interface CallerFilter {
  readonly userId?: string
  /** Hashes; a name has several where several keys may have such a session. */
  readonly sessionIds?: readonly string[]
  readonly agentIds?: readonly string[]
  /** A tag's hash. */
  readonly tagId?: string
}

export interface CallFilter extends CallerFilter {
  readonly fromMs?: number
  readonly toMs?: number
  readonly gateId?: string
  readonly keyId?: string
  readonly target?: string
  readonly targetPart?: string
  readonly status?: number
  /** 4 for 400 to 499. */
  readonly statusClass?: number
  readonly outcome?: CallOutcome
  readonly errorKind?: string
  /** The error code of calls that the gateway refused; `any` for all refused calls. */
  readonly refused?: string
  readonly stream?: boolean
  /** Whether tokens were reported and no price was known; their cost may be an estimate. */
  readonly isUnpriced?: boolean
  readonly durationFromMs?: number
  readonly durationToMs?: number
  readonly firstByteFromMs?: number
  readonly firstByteToMs?: number
}

export interface CallPosition {
  readonly startedAt: number
  readonly id: string
}

export interface CallPage {
  readonly limit: number
  readonly before?: CallPosition
}

export interface CallPageResult {
  readonly calls: readonly CallRecord[]
  readonly goOnBefore?: CallPosition
}

type Condition = (eb: ExpressionBuilder<Schema, 'calls'>) => Expression<SqlBool>

interface Search {
  readonly filter: CallFilter
  readonly page: CallPage
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
    return await readRecords(database, query)
  }
  if (others.length === 0 && isOfFile) return { calls: await find(page, undefined) }

  const maxEntries = isOfFile ? MAX_ENTRIES : MAX_ENTRIES_OF_POSTGRES
  let left = bounds.maxCandidates ?? (isOfIndex ? maxEntries : MAX_ROWS)
  // Without statistics, Postgres expects so few calls that it sorts all calls of the range. The
  // bounds of a step leave it few calls to sort.
  const firstOfPostgres = others.length === 0 ? page.limit : FIRST_STEP_OF_POSTGRES
  let step = bounds.step ?? (isOfFile ? STEP_OF_SQLITE : firstOfPostgres)
  const calls: CallRecord[] = []
  let { before } = page
  for (;;) {
    step = Math.min(step, left)
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
    before = { startedAt: last.started_at, id: '' }
    left -= step
    if (left <= 0) return { calls, goOnBefore: before }
    if (!isOfFile) step *= 2
    await nextTurn()
  }
}

/** @param query selects all columns, sorted */
export async function readRecords(
  database: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, 'calls', Selectable<CallTable>>,
): Promise<readonly CallRecord[]> {
  if (isSqlite(database)) return (await query.execute()).map(toRecord)
  const { rows } = await database
    .selectFrom(query.as('page'))
    .select(PAGE_AS_JSON)
    .executeTakeFirstOrThrow()
  if (rows === null) return []
  // The database driver has just blocked the event loop, so the next line yields to other work.
  await nextTurn()
  return (JSON.parse(rows) as CallValues[]).map((values) => toRecord(toTableRow(values)))
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
    // The next condition implies this range, but Postgres cannot estimate how few rows the next
    // condition matches.
    conditions.push((eb) => eb('started_at', '<=', before.startedAt))
    conditions.push(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_at', 'id'), '<', tuple(before.startedAt, before.id as CallId)),
    )
  }
  return conditions
}

function latestMs(filter: CallFilter, before: CallPosition | undefined): number {
  const toMs = (filter.toMs ?? Number.MAX_SAFE_INTEGER) - 1
  if (before === undefined) return toMs
  return Math.min(toMs, before.id === '' ? before.startedAt - 1 : before.startedAt)
}

interface SplitConditions {
  readonly leading: readonly Condition[]
  readonly others: readonly Condition[]
  readonly isOfIndex: boolean
}

function splitConditions(filter: CallFilter): SplitConditions {
  const leading: Condition[] = []
  const others: Condition[] = []
  const { gateId, keyId, target, status, statusClass, outcome, errorKind, refused, stream } = filter
  const { userId, sessionIds, agentIds, tagId } = filter
  const isAboutTrouble =
    errorKind !== undefined ||
    refused !== undefined ||
    (outcome !== undefined && outcome !== 'succeeded') ||
    (status ?? 0) >= 400 ||
    (statusClass ?? 0) >= 4
  // An index finds the calls of a user.
  if (userId !== undefined) leading.push((eb) => eb('user_id', '=', userId))
  if (isAboutTrouble) leading.push(() => sql<SqlBool>`(outcome <> 'succeeded' OR status >= 400)`)
  const columns = [
    ['key_id', keyId],
    ['gate_id', gateId],
  ] as const
  for (const [column, value] of columns) {
    if (value === undefined) continue
    const known = isAboutTrouble ? sql`coalesce(${sql.ref(column)}, '')` : sql.ref(column)
    others.push(() => sql<SqlBool>`${known} = ${value}`)
  }
  const ofIndex = isAboutTrouble ? 0 : others.length
  if (target !== undefined) others.push((eb) => eb('target', '=', target))
  const { targetPart } = filter
  if (targetPart !== undefined) {
    const part = targetPart.toLowerCase()
    others.push(() => containsText('target', part))
  }
  if (sessionIds !== undefined) others.push(() => isOneOf('session_id', sessionIds))
  if (agentIds !== undefined) others.push(() => isOneOf('agent_id', agentIds))
  if (tagId !== undefined) others.push((eb) => eb('tag_ids', 'like', `%${tagId}%`))
  if (status !== undefined) others.push((eb) => eb('status', '=', status))
  if (statusClass !== undefined) {
    others.push((eb) => eb.between('status', statusClass * 100, statusClass * 100 + 99))
  }
  if (outcome !== undefined) others.push((eb) => eb('outcome', '=', outcome))
  if (errorKind !== undefined) others.push(() => sql<SqlBool>`error_kind = ${errorKind}`)
  if (refused === ANY_CODE) others.push((eb) => eb('refusal_code', 'is not', null))
  else if (refused !== undefined) others.push((eb) => eb('refusal_code', '=', refused))
  if (stream !== undefined) others.push((eb) => eb('stream', '=', stream ? 1 : 0))
  if (filter.isUnpriced !== undefined)
    others.push(() => (filter.isUnpriced === true ? UNPRICED : sql<SqlBool>`NOT ${UNPRICED}`))
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

/** An empty list matches no call. */
export function isOneOf(
  column: 'session_id' | 'agent_id',
  hashes: readonly string[],
): RawBuilder<SqlBool> {
  if (hashes.length === 0) return sql<SqlBool>`1 = 0`
  return sql<SqlBool>`${sql.ref(column)} IN (${sql.join(hashes)})`
}

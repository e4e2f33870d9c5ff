/** Sessions: their sums, and the calls of each in the order of time. */
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { SessionOrder } from '../../core/usage.ts'
import type { CallPosition } from '../calls/call-pages.ts'
import { toRecord } from '../calls/call-rows.ts'
import type { CallSessionTable, Schema } from '../schema.ts'
import { REFUSED_CALLS } from './call-row-sums.ts'
import { readInSlices } from './read-in-slices.ts'

export type SessionRow = Selectable<CallSessionTable>

export interface SessionFilter {
  /** Bounds of the session's last call. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly userId?: string
  readonly keyId?: string
  readonly sessionIds?: readonly string[]
}

export interface SessionPlace {
  readonly value: number
  readonly id: string
}

export interface SessionPage {
  readonly order: SessionOrder
  readonly limit: number
  readonly after?: SessionPlace | undefined
}

/** The calls of a session's main agent (null) or of a subagent. */
export interface AgentSum {
  readonly agent: string | null
  readonly parentAgent: string | null
  readonly calls: number
  readonly failed: number
  /** Part of `failed`: calls with a 4xx before any upstream was asked. */
  readonly refused: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly costNanoUsd: number
  readonly firstAt: number
  readonly lastAt: number
}

const MEASURES: Readonly<Record<SessionOrder, RawBuilder<number>>> = {
  last: sql`last_at`,
  cost: sql`cost_nano_usd`,
  calls: sql`calls`,
  tokens: sql`(input_tokens + output_tokens)`,
}

const LEAST_SLICE_MS = 60_000
const LEAST_CALLS_SLICE_MS = 1_000
const HASHES_PER_QUERY = 500

export class SessionStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** The greatest by the measure of the order first. Reads in slices, so that calls are served. */
  async list(
    accountId: AccountId,
    filter: SessionFilter,
    { order, limit, after }: SessionPage,
  ): Promise<{
    readonly sessions: readonly SessionRow[]
    readonly next: SessionPlace | undefined
  }> {
    const bounds = await this.#findBounds(accountId, filter)
    if (bounds === undefined || filter.sessionIds?.length === 0)
      return { sessions: [], next: undefined }
    const measure = MEASURES[order]
    // Negative times, so that the latest slice is read first.
    const slices = {
      fromMs: -bounds.lastMs,
      toMs: -bounds.firstMs + 1,
      leastMs: LEAST_SLICE_MS,
      turns: new LoopTurns(),
    }
    const read = readInSlices(this.#database, slices, async ({ fromMs, toMs }) => {
      const { rows } = await sql<SessionRow>`
        SELECT * FROM call_sessions
        WHERE account_id = ${accountId} AND last_at > ${-toMs} AND last_at <= ${-fromMs}
          ${conditionsOf(filter)}
          ${after === undefined ? sql`` : sql`AND (${measure}, session_id) < (cast(${after.value} as bigint), ${after.id})`}
        ORDER BY ${measure} DESC, session_id DESC LIMIT ${limit + 1}`.execute(this.#database)
      return rows
    })
    let found: SessionRow[] = []
    for await (const { rows } of read) {
      if (rows.length === 0) continue
      found = [...found, ...rows].sort((one, other) => compare(one, other, order))
      found = found.slice(0, limit + 1)
      if (order === 'last' && found.length > limit) break
    }
    const sessions = found.slice(0, limit)
    const end = sessions.at(-1)
    const hasMore = found.length > limit && end !== undefined
    return {
      sessions,
      next: hasMore ? { value: measureOf(end, order), id: end.session_id } : undefined,
    }
  }

  async find(accountId: AccountId, sessionIds: readonly string[]): Promise<readonly SessionRow[]> {
    const found: SessionRow[] = []
    for (let start = 0; start < sessionIds.length; start += HASHES_PER_QUERY)
      found.push(
        ...(await this.#database
          .selectFrom('call_sessions')
          .selectAll()
          .where('account_id', '=', accountId)
          .where('session_id', 'in', sessionIds.slice(start, start + HASHES_PER_QUERY))
          .execute()),
      )
    return found
  }

  /** A page of the session's calls, the oldest first. */
  async readCalls(
    session: SessionRow,
    { limit, after }: { readonly limit: number; readonly after?: CallPosition | undefined },
  ): Promise<readonly CallRecord[]> {
    const calls: CallRecord[] = []
    const fromMs = Math.max(session.first_at, after?.startedAt ?? 0)
    const slices = spanOf(session, fromMs)
    const read = readInSlices(this.#database, slices, async (slice) => {
      let query = this.#callsOf(session, slice).selectAll()
      if (after !== undefined)
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('started_at', 'id'), '>', tuple(after.startedAt, after.id as CallId)),
        )
      return await query
        .orderBy('started_at')
        .orderBy('id')
        .limit(limit - calls.length)
        .execute()
    })
    for await (const { rows } of read) {
      for (const row of rows) calls.push(toRecord(row))
      if (calls.length === limit) break
    }
    return calls
  }

  /** In the order of their first calls. */
  async readAgents(session: SessionRow): Promise<readonly AgentSum[]> {
    const agents = new Map<string, AgentSum>()
    const read = readInSlices(this.#database, spanOf(session), async (slice) => {
      return await this.#callsOf(session, slice)
        .where('refusals', 'is', null)
        .select(['agent_id', 'parent_agent_id'])
        .select(({ fn }) => [
          fn.countAll<number>().as('calls'),
          sql<number>`SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END)`.as('failed'),
          REFUSED_CALLS.as('refused'),
          fn.sum<number | null>('input_tokens').as('input'),
          fn.sum<number | null>('output_tokens').as('output'),
          fn.sum<number | null>('cached_input_tokens').as('cached'),
          fn.sum<number | null>('cost_nano_usd').as('cost'),
          fn.min('started_at').as('first'),
          fn.max('started_at').as('last'),
        ])
        .groupBy(['agent_id', 'parent_agent_id'])
        .execute()
    })
    for await (const { rows } of read)
      for (const row of rows) {
        const place = `${row.agent_id} ${row.parent_agent_id}`
        const known = agents.get(place)
        agents.set(place, {
          agent: row.agent_id,
          parentAgent: row.parent_agent_id,
          calls: Number(row.calls) + (known?.calls ?? 0),
          failed: Number(row.failed) + (known?.failed ?? 0),
          refused: Number(row.refused) + (known?.refused ?? 0),
          inputTokens: Number(row.input) + (known?.inputTokens ?? 0),
          outputTokens: Number(row.output) + (known?.outputTokens ?? 0),
          cachedInputTokens: Number(row.cached) + (known?.cachedInputTokens ?? 0),
          costNanoUsd: Number(row.cost) + (known?.costNanoUsd ?? 0),
          firstAt: known?.firstAt ?? Number(row.first),
          lastAt: Number(row.last),
        })
      }
    return [...agents.values()].sort((one, other) => one.firstAt - other.firstAt)
  }

  #callsOf(
    { account_id, session_id }: SessionRow,
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  ) {
    return this.#database
      .selectFrom('calls')
      .where('account_id', '=', account_id)
      .where('started_at', '>=', fromMs)
      .where('started_at', '<', toMs)
      .where('session_id', '=', session_id)
  }

  async #findBounds(
    accountId: AccountId,
    { fromMs, toMs }: SessionFilter,
  ): Promise<{ readonly firstMs: number; readonly lastMs: number } | undefined> {
    let sessions = this.#database
      .selectFrom('call_sessions')
      .where('account_id', '=', accountId)
      .select((eb) => [eb.fn.min('last_at').as('first'), eb.fn.max('last_at').as('last')])
    if (fromMs !== undefined) sessions = sessions.where('last_at', '>=', fromMs)
    if (toMs !== undefined) sessions = sessions.where('last_at', '<', toMs)
    const row = await sessions.executeTakeFirst()
    if (row === undefined || row.first === null || row.last === null) return undefined
    return { firstMs: Number(row.first), lastMs: Number(row.last) }
  }
}

function spanOf(session: SessionRow, fromMs = session.first_at) {
  return {
    fromMs,
    toMs: session.last_at + 1,
    leastMs: LEAST_CALLS_SLICE_MS,
    turns: new LoopTurns(),
  }
}

function conditionsOf({ userId, keyId, sessionIds }: SessionFilter): RawBuilder<unknown> {
  return sql.join(
    [
      ...(userId === undefined ? [] : [sql`AND user_id = ${userId}`]),
      ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
      ...(sessionIds === undefined ? [] : [sql`AND session_id IN (${sql.join(sessionIds)})`]),
    ],
    sql` `,
  )
}

function measureOf(row: SessionRow, order: SessionOrder): number {
  switch (order) {
    case 'last':
      return row.last_at
    case 'cost':
      return row.cost_nano_usd
    case 'calls':
      return row.calls
    case 'tokens':
      return row.input_tokens + row.output_tokens
  }
}

function compare(one: SessionRow, other: SessionRow, order: SessionOrder): number {
  return (
    measureOf(other, order) - measureOf(one, order) || (one.session_id < other.session_id ? 1 : -1)
  )
}

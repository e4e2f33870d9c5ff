/** Sums of calls by user, tag and session (decision 0121). */
import type { CallRecord } from '../../core/call.ts'
import type { AccountId } from '../../core/ids.ts'
import type {
  CallerCounters,
  CallSessionTable,
  Schema,
  TagDayTable,
  UserDayTable,
} from '../schema.ts'
import { addCallerCall } from './sum-calls.ts'
import { CALLER_COUNTERS, DAY_MS, NO_CALLER_USAGE } from './usage-columns.ts'

/** The `tag_id` that sums the calls with any tag, each once. */
export const ANY_TAG = ''

export interface CallerRows {
  readonly user_days: readonly UserDayTable[]
  readonly tag_days: readonly TagDayTable[]
  readonly call_sessions: readonly CallSessionTable[]
}

export type CallerTableName = keyof CallerRows & keyof Schema

/** Calls without user, session and tags cost a comparison. */
export class CallerSums {
  readonly #users = new SumsByPlace<UserDayTable>()
  readonly #tags = new SumsByPlace<TagDayTable>()
  readonly #sessions = new SumsByPlace<CallSessionTable>()

  /** Skips calls that were refused before admission, because such calls used nothing. */
  add(calls: readonly CallRecord[]): void {
    for (const call of calls) {
      const { user, session, tags } = call
      if (user === undefined && session === undefined && tags === undefined) continue
      if (call.refusals !== undefined) continue
      for (const row of this.#rowsOf(call)) addCallerCall(row, call)
      if (session !== undefined) this.#extendSession(session, call)
    }
  }

  /** Adds the difference between the calls before and after a correction of their costs. */
  correct(
    corrections: readonly { readonly before: CallRecord; readonly after: CallRecord }[],
  ): void {
    for (const { before, after } of corrections) {
      if (before.refusals !== undefined) continue
      const [taken, added] = [{ ...NO_CALLER_USAGE }, { ...NO_CALLER_USAGE }]
      addCallerCall(taken, before)
      addCallerCall(added, after)
      for (const row of this.#rowsOf(before))
        for (const name of CALLER_COUNTERS) row[name] += added[name] - taken[name]
    }
  }

  /**
   * In the order of their keys. Every node writes rows in this order, so nodes cannot deadlock.
   */
  toRows(): CallerRows {
    return {
      user_days: this.#users.sorted(),
      tag_days: this.#tags.sorted(),
      call_sessions: this.#sessions.sorted(),
    }
  }

  #rowsOf(call: CallRecord): readonly CallerCounters[] {
    const { accountId, user, session, tags } = call
    const startsAt = call.startedAt - (call.startedAt % DAY_MS)
    const rows: CallerCounters[] = []
    if (user !== undefined) rows.push(this.#users.find(accountId, startsAt, user, toUserDay))
    if (tags !== undefined) {
      rows.push(this.#tags.find(accountId, startsAt, ANY_TAG, toTagDay))
      for (const tag of new Set(tags.split(' ')))
        rows.push(this.#tags.find(accountId, startsAt, tag, toTagDay))
    }
    if (session !== undefined) rows.push(this.#findSession(session, call))
    return rows
  }

  #findSession(session: string, call: CallRecord): CallSessionTable {
    return this.#sessions.find(call.accountId, WHOLE_SESSION, session, () => ({
      ...NO_CALLER_USAGE,
      account_id: call.accountId,
      session_id: session,
      key_id: call.keyId,
      user_id: call.user ?? null,
      first_at: Math.round(call.startedAt),
      last_at: Math.round(call.startedAt),
      largest_input: 0,
    }))
  }

  #extendSession(session: string, call: CallRecord): void {
    const row = this.#findSession(session, call)
    const startedAt = Math.round(call.startedAt)
    if (call.user !== undefined && (row.user_id === null || startedAt >= row.last_at))
      row.user_id = call.user
    row.first_at = Math.min(row.first_at, startedAt)
    row.last_at = Math.max(row.last_at, startedAt)
    row.largest_input = Math.max(row.largest_input, call.usage?.inputTokens ?? 0)
  }
}

/** Stands for the day of a session's row, which is not divided by days. */
const WHOLE_SESSION = 0

type ToRow<Row> = (accountId: AccountId, startsAt: number, id: string) => Row

const toUserDay: ToRow<UserDayTable> = (account_id, starts_at, user_id) => ({
  ...NO_CALLER_USAGE,
  ...{ account_id, starts_at, user_id },
})

const toTagDay: ToRow<TagDayTable> = (account_id, starts_at, tag_id) => ({
  ...NO_CALLER_USAGE,
  ...{ account_id, starts_at, tag_id },
})

/** Nested maps, because building a text key costs more than adding a call. */
class SumsByPlace<Row> {
  readonly #accounts = new Map<AccountId, Map<number, Map<string, Row>>>()

  find(accountId: AccountId, startsAt: number, id: string, toRow: ToRow<Row>): Row {
    const rows = this.#rowsOf(accountId, startsAt)
    const known = rows.get(id)
    if (known !== undefined) return known
    const row = toRow(accountId, startsAt, id)
    rows.set(id, row)
    return row
  }

  #rowsOf(accountId: AccountId, startsAt: number): Map<string, Row> {
    const known = this.#accounts.get(accountId)?.get(startsAt)
    if (known !== undefined) return known
    const days = this.#accounts.get(accountId) ?? new Map<number, Map<string, Row>>()
    const rows = new Map<string, Row>()
    this.#accounts.set(accountId, days.set(startsAt, rows))
    return rows
  }

  sorted(): readonly Row[] {
    return inOrder(this.#accounts, compareTexts).flatMap((days) =>
      inOrder(days, (one, other) => one - other).flatMap((rows) => inOrder(rows, compareTexts)),
    )
  }
}

function inOrder<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  compare: (one: Key, other: Key) => number,
): readonly Value[] {
  return [...map].sort(([one], [other]) => compare(one, other)).map(([, value]) => value)
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : 1
}

/** Sums of calls by user, tag and session (decision 0121). */
import type { CallRecord } from '../../core/call.ts'
import type { AccountId } from '../../core/ids.ts'
import type {
  CallSessionTable,
  CounterColumns,
  Schema,
  TagDayTable,
  UserDayTable,
} from '../schema.ts'
import { addCall } from './sum-calls.ts'
import { COUNTERS, DAY_MS, NO_USAGE } from './usage-columns.ts'

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
      for (const row of this.#rowsOf(call)) addCall(row, call)
      if (session !== undefined) this.#extendSession(session, call)
    }
  }

  /** Adds the difference between the calls before and after a correction of their costs. */
  correct(
    corrections: readonly { readonly before: CallRecord; readonly after: CallRecord }[],
  ): void {
    for (const { before, after } of corrections) {
      if (before.refusals !== undefined) continue
      const [taken, added] = [{ ...NO_USAGE }, { ...NO_USAGE }]
      addCall(taken, before)
      addCall(added, after)
      for (const row of this.#rowsOf(before))
        for (const name of COUNTERS) row[name] += added[name] - taken[name]
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

  *#rowsOf(call: CallRecord): Generator<CounterColumns> {
    const { accountId, user, session, tags } = call
    const startsAt = call.startedAt - (call.startedAt % DAY_MS)
    const day = { account_id: accountId, starts_at: startsAt }
    if (user !== undefined)
      yield this.#users.find([accountId, startsAt, user], () => ({ ...day, user_id: user }))
    if (tags !== undefined)
      for (const tag of [ANY_TAG, ...new Set(tags.split(' '))])
        yield this.#tags.find([accountId, startsAt, tag], () => ({ ...day, tag_id: tag }))
    if (session !== undefined) yield this.#findSession(session, call)
  }

  #findSession(session: string, call: CallRecord): CallSessionTable {
    return this.#sessions.find([call.accountId, 0, session], () => ({
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

type Place = readonly [account: AccountId, startsAt: number, id: string]

class SumsByPlace<Row extends CounterColumns> {
  readonly #rows = new Map<string, Row>()

  find(place: Place, create: () => Omit<Row, keyof CounterColumns>): Row {
    const key = toSortKey(place)
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = { ...create(), ...NO_USAGE } as Row
    this.#rows.set(key, row)
    return row
  }

  sorted(): readonly Row[] {
    return [...this.#rows.keys()].sort().flatMap((key) => this.#rows.get(key) ?? [])
  }
}

/** Account ids contain no line break, so the key is unambiguous. */
function toSortKey([account, startsAt, id]: Place): string {
  return `${account}\n${String(startsAt).padStart(15, '0')}\n${id}`
}

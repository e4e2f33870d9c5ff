/** Reads and erases what is stored of an end user (decision 0121). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type Selectable, sql } from 'kysely'
import { ERASED_USER, ERASURE_TOLERANCE_MS } from '../../core/attribution.ts'
import type { AccountId } from '../../core/ids.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount, lockUsage } from '../changes/change-account.ts'
import { relieveLog } from '../database/checkpoint-thread.ts'
import { isSqlite } from '../database/sql-differences.ts'
import { deleteStopsOfHeads } from '../resources/stops.ts'
import type { Schema, UserDayTable } from '../schema.ts'
import { addCallers } from './caller-writer.ts'
import { lockEndUsers } from './erased-users.ts'
import type { SessionRow } from './sessions.ts'
import { DAY_MS } from './usage-columns.ts'

const CALLS_OF_A_SERVER = 500
/** SQLite moves these on the event loop, in some milliseconds. */
const CALLS_OF_SQLITE = 32
const DAYS_PER_QUERY = 400
/** Rows that are read to find the sessions of a user, since no index finds them. */
const SESSIONS_PER_QUERY = 1_000

export type UserDayRow = Selectable<UserDayTable>

export interface MovedRows {
  readonly calls: number
  readonly days: number
  readonly sessions: number
}

export interface Erased extends MovedRows {
  /** False: nothing was stored, and calls that are stored later count as erased. */
  readonly wasStored: boolean
}

export class EndUserStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async findName(
    accountId: AccountId,
    userId: string,
  ): Promise<{ readonly name: string; readonly lastSeenAt: number } | undefined> {
    const row = await this.#database
      .selectFrom('caller_names')
      .select(['name', 'last_seen_at'])
      .where('account_id', '=', accountId)
      .where('kind', '=', 'user')
      .where('hash', '=', userId)
      .executeTakeFirst()
    return row && { name: row.name, lastSeenAt: Number(row.last_seen_at) }
  }

  async isStored(accountId: AccountId, userId: string): Promise<boolean> {
    if ((await this.findName(accountId, userId)) !== undefined) return true
    for await (const _ of this.#daysOfCalls(accountId, userId)) return true
    for await (const _ of this.readDays(accountId, userId)) return true
    return false
  }

  /** The sums by day, the oldest first. */
  async *readDays(accountId: AccountId, userId: string): AsyncGenerator<readonly UserDayRow[]> {
    const { first, last } = await this.#database
      .selectFrom('user_days')
      .where('account_id', '=', accountId)
      .select(({ fn }) => [fn.min('starts_at').as('first'), fn.max('starts_at').as('last')])
      .executeTakeFirstOrThrow()
    if (first === null || last === null) return
    // Days are listed, because the primary key finds a user by day only.
    for (let day = Number(first); day <= Number(last); day += DAYS_PER_QUERY * DAY_MS) {
      const days = Array.from({ length: DAYS_PER_QUERY }, (_, index) => day + index * DAY_MS)
      const rows = await this.#database
        .selectFrom('user_days')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('starts_at', 'in', days)
        .where('user_id', '=', userId)
        .orderBy('starts_at')
        .execute()
      if (rows.length > 0) yield rows
      await nextTurn()
    }
  }

  /** The sessions whose latest call with a user is of this user. */
  async *readSessions(accountId: AccountId, userId: string): AsyncGenerator<readonly SessionRow[]> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: readonly SessionRow[] = await this.#database
        .selectFrom('call_sessions')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('session_id', '>', after)
        .orderBy('session_id')
        .limit(SESSIONS_PER_QUERY)
        .execute()
      const ofUser = rows.filter(({ user_id }) => user_id === userId)
      if (ofUser.length > 0) yield ofUser
      after = rows.length < SESSIONS_PER_QUERY ? undefined : rows.at(-1)?.session_id
      await nextTurn()
    }
  }

  /**
   * Moves the user's calls, sums and sessions to `(erased)`, and deletes the name and the stops by
   * fuses. Every step leaves sums that equal the calls, so an interrupted erasure may be repeated.
   * Only an erasure of stored data is audited.
   */
  async erase(accountId: AccountId, userId: string, nowMs = Date.now()): Promise<Erased> {
    const wasStored = await changeAccount(this.#database, accountId, async (transaction) => {
      await lockEndUsers(transaction, accountId)
      const isStored = await new EndUserStore(transaction).isStored(accountId, userId)
      await transaction
        .insertInto('erased_users')
        .values({ user_id: userId, account_id: accountId, erased_at: nowMs, finished_at: null })
        .onConflict((conflict) =>
          conflict
            .columns(['user_id', 'account_id'])
            .doUpdateSet({ erased_at: nowMs, finished_at: null }),
        )
        .execute()
      await transaction
        .deleteFrom('caller_names')
        .where('account_id', '=', accountId)
        .where('kind', '=', 'user')
        .where('hash', '=', userId)
        .execute()
      await deleteStopsOfHeads(
        transaction,
        accountId,
        ({ kind, id }) => kind === 'user' && id === userId,
      )
      if (!isStored) return false
      await recordChange(transaction, {
        ...{ accountId, action: 'attribution.erase', resourceId: userId },
        before: { user: userId },
        after: null,
      })
      return true
    })
    return { wasStored, ...(await this.#move(accountId, userId, nowMs)) }
  }

  /** Continues the erasures that a stopped process has left. */
  async finishErasures(signal: AbortSignal): Promise<void> {
    const begun = await this.#database
      .selectFrom('erased_users')
      .selectAll()
      .where('finished_at', 'is', null)
      .execute()
    for (const { account_id, user_id, erased_at } of begun) {
      if (signal.aborted) return
      await this.#move(account_id, user_id, erased_at)
    }
  }

  /** Forgets finished erasures: calls that began before them are too old to be stored. */
  async forgetErasuresBefore(timeMs: number): Promise<void> {
    await this.#database
      .deleteFrom('erased_users')
      .where('erased_at', '<', timeMs - ERASURE_TOLERANCE_MS)
      .where('finished_at', 'is not', null)
      .execute()
  }

  async #move(accountId: AccountId, userId: string, erasedAt: number): Promise<MovedRows> {
    const days = new Set<number>()
    for await (const rows of this.readDays(accountId, userId))
      for (const { starts_at } of rows) days.add(Number(starts_at))
    for await (const day of this.#daysOfCalls(accountId, userId)) days.add(day)
    let calls = 0
    for (const day of days) calls += await this.#moveDay(accountId, userId, day)
    let sessions = 0
    for await (const rows of this.readSessions(accountId, userId))
      sessions += await this.#moveSessions(accountId, userId, rows)
    await this.#database
      .updateTable('erased_users')
      .set({ finished_at: Date.now() })
      .where('user_id', '=', userId)
      .where('account_id', '=', accountId)
      .where('erased_at', '=', erasedAt)
      .execute()
    return { calls, days: days.size, sessions }
  }

  async *#daysOfCalls(accountId: AccountId, userId: string): AsyncGenerator<number> {
    for (let fromMs = Number.MIN_SAFE_INTEGER; ; ) {
      const { first } = await this.#database
        .selectFrom('calls')
        .select(({ fn }) => fn.min('started_at').as('first'))
        .where('account_id', '=', accountId)
        .where('user_id', '=', userId)
        .where('started_at', '>=', fromMs)
        .executeTakeFirstOrThrow()
      if (first === null) return
      const day = Number(first) - (Number(first) % DAY_MS)
      yield day
      fromMs = day + DAY_MS
    }
  }

  /** One transaction, during which no call of an end user is stored, so the day's sum is exact. */
  async #moveDay(accountId: AccountId, userId: string, day: number): Promise<number> {
    let moved = 0
    await this.#database.transaction().execute(async (transaction) => {
      moved = 0
      // In this order, because a correction of costs holds the usage while nodes store calls.
      await lockUsage(transaction, accountId)
      await lockEndUsers(transaction, accountId)
      const most = isSqlite(transaction) ? CALLS_OF_SQLITE : CALLS_OF_A_SERVER
      for (let rows = most; rows === most; ) {
        const found = await transaction
          .selectFrom('calls')
          .select('id')
          .where('account_id', '=', accountId)
          .where('user_id', '=', userId)
          .where('started_at', '>=', day)
          .where('started_at', '<', day + DAY_MS)
          .orderBy('started_at')
          .limit(most)
          .execute()
        rows = found.length
        moved += rows
        if (rows === 0) break
        // By id alone: with the account, SQLite would read all calls of the account.
        await transaction
          .updateTable('calls')
          .set({ user_id: ERASED_USER })
          .where(
            'id',
            'in',
            found.map(({ id }) => id),
          )
          .execute()
        await nextTurn()
      }
      const sum = await transaction
        .selectFrom('user_days')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('starts_at', '=', day)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      if (sum === undefined) return
      await transaction
        .deleteFrom('user_days')
        .where('account_id', '=', accountId)
        .where('starts_at', '=', day)
        .where('user_id', '=', userId)
        .execute()
      const user_days = [{ ...sum, user_id: ERASED_USER }]
      await addCallers(transaction, { user_days, tag_days: [], call_sessions: [] }, nextTurn)
    })
    await relieveLog(this.#database, moved + 2)
    return moved
  }

  async #moveSessions(
    accountId: AccountId,
    userId: string,
    sessions: readonly SessionRow[],
  ): Promise<number> {
    const ids = sessions.map(({ session_id }) => session_id)
    return await this.#database.transaction().execute(async (transaction) => {
      await lockEndUsers(transaction, accountId)
      // Nodes lock the rows of several sessions in this order.
      if (!isSqlite(transaction))
        await sql`SELECT 1 FROM call_sessions WHERE account_id = ${accountId}
          AND session_id IN (${sql.join(ids)}) ORDER BY session_id FOR UPDATE`.execute(transaction)
      const { numUpdatedRows } = await transaction
        .updateTable('call_sessions')
        .set({ user_id: ERASED_USER })
        .where('account_id', '=', accountId)
        .where('user_id', '=', userId)
        .where('session_id', 'in', ids)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    })
  }
}

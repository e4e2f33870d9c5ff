/**
 * The end users who were erased, so that no call or name that a node still held counts for them
 * (decision 0121).
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { END_USER, ERASED_USER, ERASURE_TOLERANCE_MS } from '../../core/attribution.ts'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId } from '../../core/ids.ts'
import { isSqlite, lockName, lockNamesShared } from '../database/sql-differences.ts'
import type { ErasedUserTable, Schema } from '../schema.ts'
import { compiledOnce } from './upsert-sums.ts'

export function isEndUser(user: string | null | undefined): user is string {
  return user?.startsWith(END_USER) === true
}

/** Until the transaction ends, no other transaction writes calls or names of the account's end users. */
export async function lockEndUsers(
  transaction: Transaction<Schema>,
  accountId: AccountId,
): Promise<void> {
  await lockName(transaction, lockNameOf(accountId))
}

/** Until the transaction ends, no end user of these accounts is erased. */
export async function lockEndUsersShared(
  transaction: Transaction<Schema>,
  accountIds: Iterable<AccountId>,
): Promise<void> {
  await lockNamesShared(transaction, Array.from(accountIds, lockNameOf))
}

function lockNameOf(accountId: AccountId): string {
  return `end users of ${accountId}`
}

function compileFind(database: Kysely<Schema>) {
  const users = isSqlite(database)
    ? sql`SELECT value FROM json_each(${''})`
    : sql`SELECT jsonb_array_elements_text(${''}::jsonb)`
  return sql`SELECT * FROM erased_users WHERE user_id IN (${users})`.compile(database)
}

type UserAt = readonly [accountId: AccountId, userId: string, atMs: number]

export class Erasures {
  readonly #times = new Map<string, number>()

  static async find(database: Kysely<Schema>, userIds: readonly string[]): Promise<Erasures> {
    const erasures = new Erasures()
    const query = compiledOnce(database, ['erasures of users', 0], () => compileFind(database))
    const parameters = [JSON.stringify(userIds)]
    const { rows } = await database.executeQuery({ ...query, parameters })
    for (const { account_id, user_id, erased_at } of rows as readonly ErasedUserTable[])
      erasures.#times.set(toPlace(account_id, user_id), erased_at)
    return erasures
  }

  includes(...[accountId, userId, atMs]: UserAt): boolean {
    const erasedAt = this.#times.get(toPlace(accountId, userId))
    return erasedAt !== undefined && atMs <= erasedAt + ERASURE_TOLERANCE_MS
  }

  apply(call: CallRecord): CallRecord {
    const { accountId, user, startedAt } = call
    if (user === undefined || !this.includes(accountId, user, startedAt)) return call
    return { ...call, user: ERASED_USER }
  }
}

/** Rolls back a commit that contains calls of erased users. */
export class ErasedCallsError extends Error {
  override readonly name = 'ErasedCallsError'
  readonly erasures: Erasures

  constructor(erasures: Erasures) {
    super('The commit contains calls of erased end users.')
    this.erasures = erasures
  }
}

/** The end users of the calls in a commit. */
export class EndUsersOfCommit {
  readonly #earliest = new Map<string, UserAt>()

  add(calls: readonly CallRecord[]): void {
    for (const { accountId, user, startedAt } of calls) {
      if (!isEndUser(user)) continue
      const place = toPlace(accountId, user)
      const known = this.#earliest.get(place)
      if (known === undefined || startedAt < known[2])
        this.#earliest.set(place, [accountId, user, startedAt])
    }
  }

  /**
   * Call this after inserting the calls: an erasure then waits for this transaction, or this
   * transaction sees the erasure.
   * @throws ErasedCallsError
   */
  async assertNoneErased(transaction: Transaction<Schema>): Promise<void> {
    if (this.#earliest.size === 0) return
    const seen = [...this.#earliest.values()]
    await lockEndUsersShared(transaction, new Set(seen.map(([accountId]) => accountId)))
    const erasures = await Erasures.find(
      transaction,
      seen.map(([, userId]) => userId),
    )
    if (seen.some((userAt) => erasures.includes(...userAt))) throw new ErasedCallsError(erasures)
  }
}

function toPlace(accountId: AccountId, userId: string): string {
  return `${accountId} ${userId}`
}

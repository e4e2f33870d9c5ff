/**
 * Deletes expired calls by account in steps, so that no step grows with the number of accounts or
 * calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { KeptRows } from '../../core/retention-horizon.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { CommitSize } from './commit-size.ts'

const ACCOUNTS_PER_STEP = 100

export interface DeletedStep {
  readonly deleted: number
  /** The account that the next step begins with; undefined when nothing is left to delete. */
  readonly next: AccountId | undefined
}

export async function findBounds(database: Kysely<Schema>): Promise<KeptRows | undefined> {
  let bounds: KeptRows | undefined
  let startAccount: AccountId | undefined = BEFORE_ALL
  while (startAccount !== undefined) {
    const { accounts, next } = await listAccounts(database, startAccount)
    for (const { oldest, newest } of accounts)
      bounds = {
        oldestMs: Math.min(bounds?.oldestMs ?? oldest, oldest),
        newestMs: Math.max(bounds?.newestMs ?? newest, newest),
      }
    startAccount = next
    if (startAccount !== undefined) await nextTurn()
  }
  return bounds
}

export interface Deletion {
  readonly timeMs: number
  readonly limit: number
  /** The account that the previous step returned; undefined for the first account. */
  readonly startAccount?: AccountId | undefined
  readonly size: Pick<CommitSize, 'rows' | 'note'>
}

export async function deleteCallsBefore(
  database: Kysely<Schema>,
  { timeMs, limit, startAccount = BEFORE_ALL, size }: Deletion,
): Promise<DeletedStep> {
  const { accounts, next } = await listAccounts(database, startAccount)
  const due = accounts.filter(({ oldest }) => oldest < timeMs).map(({ id }) => id)
  if (due.length === 0) return { deleted: 0, next }
  let deleted = 0
  while (deleted < limit) {
    await nextTurn()
    const left = limit - deleted
    const most = isSqlite(database) ? Math.min(size.rows, left) : left
    const beganAt = performance.now()
    const some = await deleteSome(database, { timeMs, accounts: due, limit: most })
    if (isSqlite(database)) size.note(some, performance.now() - beganAt)
    deleted += some
    if (some < most) return { deleted, next }
  }
  return { deleted, next: startAccount }
}

async function deleteSome(
  database: Kysely<Schema>,
  {
    timeMs,
    accounts,
    limit,
  }: { readonly timeMs: number; readonly accounts: readonly AccountId[]; readonly limit: number },
): Promise<number> {
  const result = await database
    .deleteFrom('calls')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('calls')
        .select('id')
        .where('account_id', 'in', accounts)
        .where('started_at', '<', timeMs)
        // The order of the index, so that Postgres uses the index in a large table.
        .orderBy('account_id')
        .orderBy('started_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

const BEFORE_ALL = '' as AccountId

interface AccountBounds {
  readonly id: AccountId
  readonly oldest: number
  readonly newest: number
}

async function listAccounts(
  database: Kysely<Schema>,
  startAccount: AccountId,
): Promise<{ readonly accounts: readonly AccountBounds[]; readonly next: AccountId | undefined }> {
  const { rows } = await sql<AccountBounds>`
    WITH RECURSIVE accounts_with_calls (id, number) AS (
      SELECT MIN(account_id), 1 FROM calls WHERE account_id > ${startAccount}
      UNION ALL
      SELECT (SELECT MIN(account_id) FROM calls WHERE account_id > accounts_with_calls.id), number + 1
      FROM accounts_with_calls
      WHERE id IS NOT NULL AND number < ${sql.lit(ACCOUNTS_PER_STEP)}
    )
    SELECT id,
      (SELECT MIN(started_at) FROM calls WHERE account_id = accounts_with_calls.id) AS oldest,
      (SELECT MAX(started_at) FROM calls WHERE account_id = accounts_with_calls.id) AS newest
    FROM accounts_with_calls
    WHERE id IS NOT NULL
    ORDER BY number
  `.execute(database)
  return { accounts: rows, next: rows.length < ACCOUNTS_PER_STEP ? undefined : rows.at(-1)?.id }
}

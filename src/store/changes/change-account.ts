import type { Kysely, Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { lockName } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { assertMayStillAct } from './change-origin.ts'

/**
 * Runs `work` while no other transaction changes the account's own resources.
 * @throws GatewayError `unauthorized` when the caller has lost its rights meanwhile
 */
export async function changeAccount<Result>(
  database: Kysely<Schema>,
  accountId: AccountId,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId)
    await assertMayStillAct(transaction)
    return await work(transaction)
  })
}

export async function lockAccount(
  transaction: Transaction<Schema>,
  accountId: AccountId,
): Promise<void> {
  await lockName(transaction, `account ${accountId}`)
}

/**
 * Locks the sums of an account's calls. The lock differs from the account's, so that writing sums
 * never waits for an operator's change.
 */
export async function lockUsage(
  transaction: Transaction<Schema>,
  accountId: AccountId,
): Promise<void> {
  await lockName(transaction, `usage ${accountId}`)
}

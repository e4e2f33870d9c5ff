/** Serialises changes of an account in transactions. Knows no table. */
import type { Kysely, Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { takeTurn } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { assertMayStillAct } from './change-origin.ts'

/**
 * No other transaction changes the account's own resources, as `work` reads them, before it has
 * ended.
 * @throws GatewayError `unauthorized` when the caller has lost its rights meanwhile
 */
export async function changeAccount<Result>(
  database: Kysely<Schema>,
  accountId: AccountId,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return await database.transaction().execute(async (transaction) => {
    await takeTurnAtAccount(transaction, accountId)
    await assertMayStillAct(transaction)
    return await work(transaction)
  })
}

/** For a transaction that only learns later which account it is about. */
export async function takeTurnAtAccount(
  transaction: Transaction<Schema>,
  accountId: AccountId,
): Promise<void> {
  await takeTurn(transaction, `account ${accountId}`)
}

/**
 * Likewise for the sums of its calls, which are written all day and must not wait for an operator's
 * change.
 */
export async function takeTurnAtUsage(
  transaction: Transaction<Schema>,
  accountId: AccountId,
): Promise<void> {
  await takeTurn(transaction, `usage ${accountId}`)
}

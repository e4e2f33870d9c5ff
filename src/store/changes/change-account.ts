/** How anything of an account is changed: in a transaction, one after the other. Knows no table. */
import type { Kysely, Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { takeTurn } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { assertMayStillAct } from './change-origin.ts'

/**
 * Nobody else changes the account's own things, as `work` reads them, before it has ended.
 * @throws GatewayError `unauthorized` where whoever asked has lost the right meanwhile
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

/** For a transaction that learns late which account it is about. */
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

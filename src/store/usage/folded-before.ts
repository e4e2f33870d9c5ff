/** Up to where the hours of an account are folded to days. Must not know who folds them. */
import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'

/**
 * Up to where an account's hours are folded, in milliseconds since the Unix epoch: the beginning of
 * a day, 0 where none are.
 */
export async function findFoldedBefore(
  database: Kysely<Schema>,
  accountId: AccountId,
): Promise<number> {
  const row = await database
    .selectFrom('usage_folded_hours')
    .select('before_at')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row?.before_at ?? 0
}

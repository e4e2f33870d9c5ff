/**
 * Adds a resource to an account with a cap, exactly, even with concurrent adds on several nodes.
 * Knows no cap's size.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely'
import { systemClock } from '../../core/clock.ts'
import type { AccountId } from '../../core/ids.ts'
import { type AccountCaps, type CappedThing, capOf, capReached } from '../../core/plan.ts'
import { changeAccount } from '../changes/change-account.ts'
import type { Schema } from '../schema.ts'

export interface CappedInsert {
  readonly thing: CappedThing
  readonly accountId: AccountId
  readonly caps: AccountCaps
}

/**
 * @param insert returns false when it added nothing, and then nothing is counted
 * @throws GatewayError `conflict` when the cap is reached; nothing is added
 */
export async function insertWithinCap(
  database: Kysely<Schema>,
  capped: CappedInsert,
  insert: (transaction: Transaction<Schema>) => Promise<boolean>,
): Promise<boolean> {
  // Serialised: nothing can be added to the counted rows before this has ended.
  return await changeAccount(database, capped.accountId, async (transaction) => {
    if (!(await insert(transaction))) return false
    await assertWithinCap(transaction, capped)
    return true
  })
}

/**
 * Called after the insert in its transaction, which holds the account's lock.
 * @throws GatewayError `conflict`
 */
export async function assertWithinCap(
  transaction: Transaction<Schema>,
  { thing, accountId, caps }: CappedInsert,
): Promise<void> {
  const cap = caps[thing]
  const condition = CONDITIONS[thing]
  const counted = transaction
    .selectFrom(capOf(thing).table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(sql.ref('account_id'), '=', accountId)
  const row = await (condition === undefined
    ? counted
    : counted.where(condition())
  ).executeTakeFirst()
  const count = Number(row?.count ?? 0)
  if (count > cap) throw capReached(thing, { cap, count: count - 1 })
}

/** Conditions for kinds of which not all count. */
const CONDITIONS: Partial<Record<CappedThing, () => RawBuilder<SqlBool>>> = {
  invitations: () => sql`accepted_at is null and expires_at > ${systemClock.now()}`,
}

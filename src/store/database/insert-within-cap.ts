/** Adds a resource within an account's cap, exactly, even with concurrent adds on several nodes. */
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
  /** How many of the account's rows this node holds in memory; undefined: unknown. */
  readonly held?: number | undefined
}

/** More rows than other nodes add before this node has followed the additions. */
const MOST_UNHEARD = 1_000

/**
 * @param insert returns false when nothing was added
 * @throws GatewayError `conflict` when the cap is reached; nothing is added
 */
export async function insertWithinCap(
  database: Kysely<Schema>,
  capped: CappedInsert,
  insert: (transaction: Transaction<Schema>) => Promise<boolean>,
): Promise<boolean> {
  return await changeAccount(database, capped.accountId, async (transaction) => {
    if (!(await insert(transaction))) return false
    await assertWithinCap(transaction, capped)
    return true
  })
}

export async function assertWithinCap(
  transaction: Transaction<Schema>,
  { thing, accountId, caps, held }: CappedInsert,
): Promise<void> {
  const cap = caps[thing]
  // Counting 100,000 rows at every addition would take longer than the addition.
  if (held !== undefined && held + MOST_UNHEARD <= cap) return
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

/** Which rows count, for kinds with rows that do not count. */
const CONDITIONS: Partial<Record<CappedThing, () => RawBuilder<SqlBool>>> = {
  invitations: () => sql`accepted_at is null and expires_at > ${systemClock.now()}`,
}

/** Publishes changes without a table of their own in the change feed. */
import { sql, type Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { isSqlite, POSTGRES_CLOCK_MS } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { CHANGES_CHANNEL } from './change-feed.ts'

/** The type of a reload of the configuration file. */
export const RELOAD = 'reload'
/** The type of a correction of an account's costs. */
export const COSTS = 'costs'

export interface PublishedChange {
  readonly accountId: AccountId
  readonly type: typeof RELOAD | typeof COSTS
  readonly id: string
}

/** Publishes nothing on SQLite, which has a single process. Call this last in a transaction. */
export async function publishChange(
  transaction: Transaction<Schema>,
  { accountId, type, id }: PublishedChange,
): Promise<void> {
  if (isSqlite(transaction)) return
  // The number follows the order of commits, as in the triggers of the followed tables
  // (baseline.ts).
  await sql`
    WITH counted AS (UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value)
    INSERT INTO changes (seq, at, account_id, resource_type, resource_id, operation)
    SELECT value, ${sql.raw(POSTGRES_CLOCK_MS)}, ${accountId}, ${type},
      ${id}, 'insert' FROM counted`.execute(transaction)
  await sql`SELECT pg_notify(${CHANGES_CHANNEL}, '')`.execute(transaction)
}

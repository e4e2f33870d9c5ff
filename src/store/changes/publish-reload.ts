/**
 * Publishes a reload of the configuration file in the change feed, with its entry in the audit log:
 * both or neither.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { CHANGES_CHANNEL } from './change-feed.ts'

/** The type of a reload in the change feed. A reload has no table of its own. */
export const RELOAD = 'reload'

export interface PublishedReload {
  readonly id: string
  /** The operator's account. */
  readonly accountId: AccountId
  /**
   * Digests of the configuration file on the node that received the request; null without a valid
   * file.
   */
  readonly inForce: string | null
  readonly next: string | null
}

/**
 * Records the reload in the audit log, and on Postgres in the change feed: SQLite has a single
 * process, so no other process needs the reload.
 */
export async function publishReload(
  database: Kysely<Schema>,
  { id, accountId, inForce, next }: PublishedReload,
): Promise<void> {
  await changeAccount(database, accountId, async (transaction) => {
    await recordChange(transaction, {
      accountId,
      action: 'configuration.reload',
      resourceId: id,
      before: { digest: inForce },
      after: { digest: next },
    })
    if (isSqlite(transaction)) return
    // The number follows the order of commits, as in the triggers of the followed tables
    // (baseline.ts).
    await sql`
      WITH counted AS (UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value)
      INSERT INTO changes (seq, at, account_id, resource_type, resource_id, operation)
      SELECT value, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, ${accountId}, ${RELOAD},
        ${id}, 'insert' FROM counted`.execute(transaction)
    await sql`SELECT pg_notify(${CHANGES_CHANNEL}, '')`.execute(transaction)
  })
}

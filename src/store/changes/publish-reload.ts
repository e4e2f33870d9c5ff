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

/** The feed's type of such a change. No table holds it. */
export const RELOAD = 'reload'

export interface PublishedReload {
  readonly id: string
  /** The operator's. */
  readonly accountId: AccountId
  /** Digests of the file at the node that was asked; null: none, or an invalid file. */
  readonly inForce: string | null
  readonly next: string | null
}

/** A file has one process, so nothing is published there. */
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
    // Numbered in the order of commits, as the triggers of the followed tables do (baseline.ts).
    await sql`
      WITH counted AS (UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value)
      INSERT INTO changes (seq, at, account_id, resource_type, resource_id, operation)
      SELECT value, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, ${accountId}, ${RELOAD},
        ${id}, 'insert' FROM counted`.execute(transaction)
    await sql`SELECT pg_notify(${CHANGES_CHANNEL}, '')`.execute(transaction)
  })
}

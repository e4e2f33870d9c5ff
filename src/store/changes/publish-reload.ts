import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { publishChange, RELOAD } from './publish-change.ts'

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
 * Records a reload of the configuration file in the audit log and, on Postgres, in the change feed:
 * both or neither.
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
    await publishChange(transaction, { accountId, type: RELOAD, id })
  })
}

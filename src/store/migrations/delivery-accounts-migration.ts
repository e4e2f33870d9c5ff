/**
 * Step 0036 of the schema's history: an account's deliveries are counted with each of its events.
 * Never edited once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const deliveryAccounts: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createIndex('webhook_deliveries_by_account')
      .on('webhook_deliveries')
      .column('account_id')
      .execute()
  },
}

/**
 * Step 0032 of the schema's history: one note for all accounts of a batch of calls. Never edited
 * once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const usageBatches: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('usage_batches')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('sums', 'text', (column) => column.notNull())
      .execute()
    await database.schema
      .createTable('usage_settlement')
      .addColumn('last_batch', 'integer', (column) => column.primaryKey())
      .addColumn('account_id', 'text')
      .execute()
  },
}

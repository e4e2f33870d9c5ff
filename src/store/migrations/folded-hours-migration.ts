/**
 * Step 0035 of the schema's history: up to where the hours of each account are folded to days.
 * Never edited once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const foldedHours: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('usage_folded_hours')
      .addColumn('account_id', 'text', (column) => column.primaryKey())
      .addColumn('before_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}

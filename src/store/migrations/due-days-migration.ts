/**
 * Step 0026 of the schema's history: which days are to be summed up, and when upkeep was done.
 * Never edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import { storedByKey } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export const dueDays: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    const days = database.schema
      .createTable('usage_due_days')
      .addColumn('starts_at', 'bigint', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_due_days_primary_key', ['starts_at', 'account_id'])
    await storedByKey(database, days).execute()
    await database.schema
      .createTable('upkeep')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('done_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}

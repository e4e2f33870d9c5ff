/**
 * Step 0031 of the schema's history: how many calls were refused, and why. Never edited once
 * released.
 */
import type { Kysely, Migration } from 'kysely'
import { storedByKey } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export const refusedHours: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    const table = database.schema
      .createTable('refused_hours')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('starts_at', 'bigint', (column) => column.notNull())
      .addColumn('gate_id', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('error_kind', 'text', (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('refused_hours_primary_key', [
        'account_id',
        'starts_at',
        'gate_id',
        'key_id',
        'status',
        'error_kind',
      ])
    await storedByKey(database, table).execute()
  },
}

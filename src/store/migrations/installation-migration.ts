/**
 * Step 0017 of the schema's history: which installation the database belongs to, and where it
 * stands. Never edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const installationTable: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // One row, which the first start writes: a database alone does not know whose it is.
    await database.schema
      .createTable('installation')
      .addColumn('place', 'integer', (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('change_number', 'bigint', (column) => column.notNull())
      .addColumn('master_key_id', 'text')
      .addColumn('moved_to', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}

/**
 * Step 0037 of the schema's history: what each node says of the settings that all have to share. Of
 * Postgres alone, as the table is. Never edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export const nodeSettings: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    if (isSqlite(database)) return
    // Null: of a node of an older version.
    await database.schema.alterTable('nodes').addColumn('settings', 'text').execute()
  },
}

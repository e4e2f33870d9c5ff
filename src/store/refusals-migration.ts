/** Step 0019 of the schema's history: calls that were turned away. Never edited once released. */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from './schema.ts'

export const refusals: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('calls').addColumn('refusals', 'bigint').execute()
  },
}

/**
 * Step 0043 of the schema's history: the names of deleted keys, which calls and usage still refer
 * to. Never edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const deletedKeyNames: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('deleted_keys').addColumn('name', 'text').execute()
    await database.schema
      .createIndex('deleted_keys_by_id')
      .on('deleted_keys')
      .columns(['account_id', 'key_id'])
      .execute()
  },
}

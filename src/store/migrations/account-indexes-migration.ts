/**
 * Step 0021 of the schema's history: an account's keys are counted whenever it makes one. Never
 * edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const accountIndexes: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createIndex('api_keys_by_account')
      .on('api_keys')
      .column('account_id')
      .execute()
  },
}

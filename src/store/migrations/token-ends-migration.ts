/** Migration 0013: announced ends of access tokens. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const tokenEnds: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('api_keys').addColumn('announced_end', 'bigint').execute()
    await database.schema
      .createIndex('api_keys_by_end')
      .on('api_keys')
      .columns(['account_id', 'expires_at'])
      .execute()
  },
}

/** Migration 0005: the accounts' own provider keys, and whose credential a call was made with. */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const providerKeyTables: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('provider_keys')
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('provider', 'text', (column) => column.notNull())
      .addColumn('sealed_key', 'text', (column) => column.notNull())
      .addColumn('masked_key', 'text', (column) => column.notNull())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint')
      .addPrimaryKeyConstraint('provider_keys_primary_key', ['account_id', 'provider'])
      .execute()
    await database.schema.alterTable('calls').addColumn('credential', 'text').execute()
  },
}

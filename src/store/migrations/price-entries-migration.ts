/** Migration 0004: the operator's entries that costs came from. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const priceEntries: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('price_entries')
      .addColumn('hash', 'text', (column) => column.notNull().primaryKey())
      .addColumn('entry', 'text', (column) => column.notNull())
      .addColumn('first_used_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}

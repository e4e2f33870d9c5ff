/** Migration 0015: tries to sign in, counted for all nodes. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const signInTries: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('sign_in_tries')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('wrong', 'integer', (column) => column.notNull())
      .addColumn('waits_until', 'bigint', (column) => column.notNull())
      .addColumn('proven', 'integer', (column) => column.notNull())
      .addColumn('forget_at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema
      .createIndex('sign_in_tries_by_end')
      .on('sign_in_tries')
      .column('forget_at')
      .execute()
  },
}

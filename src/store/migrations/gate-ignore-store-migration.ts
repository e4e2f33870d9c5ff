import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const gateIgnoreStore: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .alterTable('gates')
      .addColumn('ignore_store', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

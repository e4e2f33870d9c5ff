import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const gateNames: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('gates').addColumn('aliases', 'text').execute()
    await database.schema
      .alterTable('gates')
      .addColumn('is_catch_all', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

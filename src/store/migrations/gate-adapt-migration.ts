import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

/** Existing gates keep sending requests as they are. */
export const gateAdapt: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .alterTable('gates')
      .addColumn('adapt', 'text', (column) => column.notNull().defaultTo('off'))
      .execute()
  },
}

/** Step 0022 of the schema: where a budget's days, weeks and months begin. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetTimeZone: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('budgets').addColumn('time_zone', 'text').execute()
  },
}

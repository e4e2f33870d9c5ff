/** Migration 0022: time zones of budgets. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetTimeZone: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('budgets').addColumn('time_zone', 'text').execute()
  },
}

/** Migration 0014: a budget's text for callers, and a temporary raise. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetRules: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    for (const name of ['message', 'raise'])
      await database.schema.alterTable('budgets').addColumn(name, 'text').execute()
  },
}

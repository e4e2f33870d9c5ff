/** Migration 0021: budgets that steer calls before they refuse them. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetSteering: Step = {
  async up({ schema }: Kysely<Schema>): Promise<void> {
    await schema.alterTable('budgets').addColumn('at_limit', 'text').execute()
    await schema.alterTable('budgets').addColumn('refuse_at', 'double precision').execute()
    await schema
      .alterTable('gates')
      .addColumn('budget_headers', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema.alterTable('calls').addColumn('steered_by', 'text').execute()
  },
}

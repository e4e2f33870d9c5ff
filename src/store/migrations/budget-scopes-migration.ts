/**
 * Migration 0020: budgets of an account, a user or a tag, and budgets for each user or key.
 * Never edited once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetScopes: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    for (const name of ['scope', 'scope_id', 'scope_name'])
      await database.schema.alterTable('budgets').addColumn(name, 'text').execute()
  },
}

/**
 * Step 0010 of the schema's history: what budgets used in their first hour. Never edited once
 * released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const budgetBeginnings: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    for (const column of ['first_tokens', 'first_micro_usd', 'first_unpriced'])
      await database.schema.alterTable('budgets').addColumn(column, 'bigint').execute()
  },
}

/**
 * Step 0012 of the schema's history: whether budgets in money allow targets without a price. Never
 * edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const unpricedBudgets: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // Null: made before there was a choice, or by a node that does not know it. Such budgets allow
    // what they always did.
    await database.schema.alterTable('budgets').addColumn('unpriced', 'text').execute()
  },
}

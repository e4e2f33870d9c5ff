/**
 * Step 0023 of the schema's history: where owned models fill in the middle. Never edited once
 * released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const ownedModelFim: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // Its row's trigger watches every column: other nodes hear of these two as of the rest.
    for (const name of ['fim_endpoint', 'fim_template'])
      await database.schema
        .alterTable('owned_models')
        .addColumn(name, 'text', (column) => column.notNull().defaultTo('auto'))
        .execute()
  },
}

/**
 * Step 0022 of the schema's history: how owned models take their credential, and what probes found.
 * Never edited once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const ownedModelProbes: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // Its row's trigger watches every column: other nodes hear of these two as of the rest.
    await database.schema
      .alterTable('owned_models')
      .addColumn('credential_header', 'text', (column) => column.notNull().defaultTo('auto'))
      .execute()
    await database.schema.alterTable('owned_models').addColumn('probe', 'text').execute()
  },
}

/**
 * Step 0024 of the schema's history: owned models whose server takes no credential. Never edited
 * once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const ownedModelCredential: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // Its row's trigger watches every column: other nodes hear of this one as of the rest.
    await database.schema
      .alterTable('owned_models')
      .addColumn('no_credential_since', 'bigint')
      .execute()
  },
}

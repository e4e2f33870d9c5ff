/** Facts, Codex instructions and usage headers of gates. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const gateFacts: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    for (const column of ['facts', 'codex_instructions'])
      await database.schema.alterTable('gates').addColumn(column, 'text').execute()
    await database.schema
      .alterTable('gates')
      .addColumn('usage_headers', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

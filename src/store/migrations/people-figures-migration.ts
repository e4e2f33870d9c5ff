/** Migration 0018: visibility of people's figures. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const peopleFigures: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .alterTable('attribution')
      .addColumn('people_figures', 'text', (column) => column.notNull().defaultTo('hidden'))
      .execute()
  },
}

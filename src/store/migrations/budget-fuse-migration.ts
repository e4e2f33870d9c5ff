/** Migration 0025: fuses of budgets. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const budgetFuse: Step = {
  async up({ schema }: Kysely<Schema>): Promise<void> {
    await schema.alterTable('budgets').addColumn('fuse', 'text').execute()
  },
}

/**
 * Migration 0024: whether the usage of a call is an estimate, so that a cost that was an
 * estimate for its price alone becomes exact with a known price. Never edited once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const estimatedUsage: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('calls').addColumn('usage_estimated', 'integer').execute()
  },
}

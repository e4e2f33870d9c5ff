/** Migration 0023: fuses of gates. Never edited once released. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const gateFuse: Step = {
  async up({ schema }: Kysely<Schema>): Promise<void> {
    await schema.alterTable('gates').addColumn('fuse', 'text').execute()
  },
}

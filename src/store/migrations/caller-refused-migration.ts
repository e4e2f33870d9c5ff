/**
 * Migration 0026: how many failed calls of a user, tag or session the gateway refused. Never edited
 * once released.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const callerRefused: Step = {
  async up({ schema }: Kysely<Schema>): Promise<void> {
    for (const table of ['user_days', 'tag_days', 'call_sessions'])
      await schema
        .alterTable(table)
        .addColumn('refused', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
  },
}

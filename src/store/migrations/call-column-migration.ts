/**
 * Steps of the schema's history that add one column to the calls, which may be null. Never edited
 * once released.
 */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

/** @param name as the list of a call's columns has it (core/call-columns.ts) */
export function addCallColumn(name: string, type: 'text' | 'bigint'): Migration {
  return {
    async up(database: Kysely<Schema>): Promise<void> {
      await database.schema.alterTable('calls').addColumn(name, type).execute()
    },
  }
}

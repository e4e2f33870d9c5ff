/**
 * Step 0034 of the schema's history: one index of calls in the order of time, which holds their
 * keys and gates too, in place of three. Never edited once released.
 */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

/**
 * An older build's questions are answered by this one as well: of a key that is rarely used they
 * look at more of it.
 */
export const callsInOrder: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createIndex('calls_in_order')
      .on('calls')
      .columns(['account_id', 'started_at', 'id', 'key_id', 'gate_id'])
      .execute()
    for (const name of ['calls_by_account_and_time', 'calls_by_gate_id', 'calls_by_key_id'])
      await sql`DROP INDEX ${sql.ref(name)}`.execute(database)
  },
}

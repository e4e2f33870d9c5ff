/**
 * Migration 0019: on SQLite, an index that holds whole sessions. SQLite would otherwise find
 * each session of a range in the table by its key, which takes ten times as long. Postgres finds a row
 * by its place, so its index stays. Never edited once released.
 */
import type { Kysely } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

const COLUMNS = [
  ...['account_id', 'last_at', 'first_at', 'session_id', 'key_id', 'user_id', 'largest_input'],
  ...['calls', 'failed', 'cancelled', 'unreported', 'input_tokens', 'output_tokens'],
  ...['cached_input_tokens', 'reasoning_tokens', 'cache_write_tokens', 'cost_nano_usd'],
  ...['cost_estimated', 'cost_unknown'],
] as const

export const sessionIndex: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    if (!isSqlite(database)) return
    await database.schema
      .createIndex('call_sessions_in_order')
      .on('call_sessions')
      .columns([...COLUMNS])
      .execute()
    await database.schema.dropIndex('call_sessions_by_time').execute()
  },
}

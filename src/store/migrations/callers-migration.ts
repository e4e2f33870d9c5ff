/** Migration 0011: attribution of calls, and sums by user, tag and session. Never edited once released. */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

const COUNTERS = [
  'calls',
  'failed',
  'cancelled',
  'unreported',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
  'cost_estimated',
  'cost_unknown',
]
  .map((name) => `${name} bigint NOT NULL`)
  .join(', ')

const TABLES: readonly string[] = [
  `CREATE TABLE user_days (account_id text NOT NULL, starts_at bigint NOT NULL,
    user_id text NOT NULL, ${COUNTERS}, PRIMARY KEY (account_id, starts_at, user_id))`,
  `CREATE TABLE tag_days (account_id text NOT NULL, starts_at bigint NOT NULL,
    tag_id text NOT NULL, ${COUNTERS}, PRIMARY KEY (account_id, starts_at, tag_id))`,
  `CREATE TABLE call_sessions (account_id text NOT NULL, session_id text NOT NULL,
    key_id text NOT NULL, user_id text, first_at bigint NOT NULL, last_at bigint NOT NULL,
    largest_input bigint NOT NULL, ${COUNTERS}, PRIMARY KEY (account_id, session_id))`,
]

export const callers: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    for (const name of ['user_id', 'session_id', 'agent_id', 'parent_agent_id', 'tag_ids'])
      await database.schema.alterTable('calls').addColumn(name, 'text').execute()
    const without = isSqlite(database) ? ' WITHOUT ROWID' : ''
    for (const table of TABLES) await sql.raw(`${table}${without}`).execute(database)
    await database.schema
      .createIndex('call_sessions_by_time')
      .on('call_sessions')
      .columns(['account_id', 'last_at'])
      .execute()
  },
}

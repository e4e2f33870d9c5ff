/** Migration 0015: the erased end users of accounts. Never edited once released. */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const erasedUsers: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    const without = isSqlite(database) ? ' WITHOUT ROWID' : ''
    await sql
      .raw(
        `CREATE TABLE erased_users (user_id text NOT NULL, account_id text NOT NULL,
          erased_at bigint NOT NULL, finished_at bigint,
          PRIMARY KEY (user_id, account_id))${without}`,
      )
      .execute(database)
  },
}

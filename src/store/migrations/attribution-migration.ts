/**
 * Migration 0012: settings and hash keys of attribution, names of callers, fixed users and tags of
 * keys, and the members of tags. Never edited once released.
 */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const attribution: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    const { schema } = database
    await schema
      .createTable('attribution')
      .addColumn('account_id', 'text', (column) => column.primaryKey())
      .addColumn('sealed_hash_key', 'text', (column) => column.notNull())
      .addColumn('members_and_tags', 'integer', (column) => column.notNull())
      .addColumn('sessions', 'integer', (column) => column.notNull())
      .addColumn('end_users', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    const without = isSqlite(database) ? ' WITHOUT ROWID' : ''
    await sql
      .raw(
        `CREATE TABLE caller_names (account_id text NOT NULL, kind text NOT NULL,
          hash text NOT NULL, name text NOT NULL, last_seen_at bigint NOT NULL,
          PRIMARY KEY (account_id, kind, hash))${without}`,
      )
      .execute(database)
    await schema.alterTable('api_keys').addColumn('fixed_user', 'text').execute()
    await schema.alterTable('api_keys').addColumn('fixed_tags', 'text').execute()
    await schema.alterTable('tags').addColumn('members', 'text').execute()
    if (isSqlite(database)) return
    // Changes of keys and tags are followed already.
    await sql`
      CREATE CONSTRAINT TRIGGER attribution_change AFTER INSERT OR DELETE OR UPDATE ON attribution
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
      EXECUTE FUNCTION note_change('attribution', 'account_id')`.execute(database)
  },
}

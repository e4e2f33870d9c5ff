/**
 * Migration 0016: who made a key, when it expires, and what it was before it was rotated. Never
 * edited once released.
 */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const keyLifetimes: Step = {
  // The trigger tells other nodes and refuses nothing: older builds go on as before.
  olderBuilds: { needs: '0011_change_feed' },
  async up(database: Kysely<Schema>): Promise<void> {
    const table = () => database.schema.alterTable('api_keys')
    await table().addColumn('created_by', 'text').execute()
    await table().addColumn('expires_at', 'bigint').execute()
    await table().addColumn('previous_sha256', 'text').execute()
    await table().addColumn('previous_masked_prefix', 'text').execute()
    await table().addColumn('previous_ends_at', 'bigint').execute()
    if (isSqlite(database)) return
    await sql`
      CREATE CONSTRAINT TRIGGER api_keys_lifetime_change
      AFTER UPDATE OF expires_at, previous_sha256, previous_ends_at ON api_keys
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change('key', 'id')`.execute(
      database,
    )
  },
}

/** Migration 0002: the rules of access tokens. Never edited once released. */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const accessTokens: Step = {
  // Older builds must not serve: they would list access tokens as API keys, and could rotate a
  // token into an API key.
  olderBuilds: 'refuse',
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('api_keys').addColumn('token', 'text').execute()
    if (isSqlite(database)) return
    await sql`
      CREATE CONSTRAINT TRIGGER api_keys_token_change AFTER UPDATE OF token ON api_keys
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change('key', 'id')`.execute(
      database,
    )
  },
}

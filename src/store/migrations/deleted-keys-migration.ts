/**
 * Migration 0014: the hashes of keys that are gone for good. The database keeps them by itself, so
 * that no deletion passes it by: not an older version's during an upgrade, not an operator's SQL.
 * Knows no key, and nothing of who asks.
 */
import { type Kysely, sql } from 'kysely'
import { currentSchema, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const deletedKeys: Step = {
  // The triggers write to a table of their own and refuse nothing: older builds go on as before.
  olderBuilds: { needs: '0011_change_feed' },
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('deleted_keys')
      .addColumn('sha256', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint', (column) => column.notNull())
      .execute()
    if (isSqlite(database)) await createSqliteTriggers(database)
    else await createPostgresTriggers(database)
  },
}

/** A hash goes when its row goes, and when another takes its place in the row. */
const SQLITE_EVENTS = [
  ['delete', sql`AFTER DELETE ON api_keys`],
  ['replace', sql`AFTER UPDATE OF sha256 ON api_keys WHEN OLD.sha256 <> NEW.sha256`],
] as const

async function createSqliteTriggers(database: Kysely<Schema>): Promise<void> {
  for (const [name, event] of SQLITE_EVENTS)
    await sql`
      CREATE TRIGGER ${sql.id(`api_keys_keep_hash_on_${name}`)} ${event} BEGIN
        INSERT OR IGNORE INTO deleted_keys (sha256, account_id, key_id, deleted_at)
        VALUES (OLD.sha256, OLD.account_id, OLD.id, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
      END`.execute(database)
}

async function createPostgresTriggers(database: Kysely<Schema>): Promise<void> {
  const schema = (await currentSchema(database)) ?? 'public'
  // The one who deletes a key may have another table of this name in front of ours.
  await sql`
    CREATE FUNCTION keep_deleted_key() RETURNS trigger LANGUAGE plpgsql
    SET search_path = ${sql.id(schema)}, pg_temp AS $$
    BEGIN
      INSERT INTO deleted_keys (sha256, account_id, key_id, deleted_at)
      VALUES (OLD.sha256, OLD.account_id, OLD.id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
      ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`.execute(database)
  await sql`
    CREATE TRIGGER api_keys_keep_hash_on_delete AFTER DELETE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION keep_deleted_key()`.execute(database)
  await sql`
    CREATE TRIGGER api_keys_keep_hash_on_replace AFTER UPDATE OF sha256 ON api_keys
    FOR EACH ROW WHEN (OLD.sha256 IS DISTINCT FROM NEW.sha256)
    EXECUTE FUNCTION keep_deleted_key()`.execute(database)
}

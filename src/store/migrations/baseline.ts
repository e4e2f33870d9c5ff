/**
 * The first migration: every table of the first release, with triggers. Never edited once released.
 */
import { type Kysely, sql } from 'kysely'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { currentSchema, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { baselineTables } from './baseline-tables.ts'
import type { Step } from './newer-steps.ts'

export const baseline: Step = {
  olderBuilds: 'refuse',
  async up(database: Kysely<Schema>): Promise<void> {
    const kind = isSqlite(database) ? 'sqlite' : 'postgres'
    for (const statement of baselineTables(kind)) await sql.raw(statement).execute(database)
    if (kind === 'sqlite') await createSqliteTriggers(database)
    else await createPostgresTriggers(database)
    const account = { id: DEFAULT_ACCOUNT, name: 'Default account', created_at: Date.now() }
    await database.insertInto('accounts').values(account).execute()
  },
}

/**
 * Keeps the hash of a key whose row is deleted or gets another hash. A trigger does so, so that an
 * operator's SQL cannot bypass the rule.
 */
async function createSqliteTriggers(database: Kysely<Schema>): Promise<void> {
  for (const [name, event] of [
    ['delete', 'AFTER DELETE ON api_keys'],
    ['replace', 'AFTER UPDATE OF sha256 ON api_keys WHEN OLD.sha256 <> NEW.sha256'],
  ] as const)
    await sql`
      CREATE TRIGGER ${sql.id(`api_keys_keep_hash_on_${name}`)} ${sql.raw(event)} BEGIN
        INSERT OR IGNORE INTO deleted_keys (sha256, account_id, key_id, deleted_at)
        VALUES (OLD.sha256, OLD.account_id, OLD.id, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
      END`.execute(database)
}

async function createPostgresTriggers(database: Kysely<Schema>): Promise<void> {
  // The user of another connection may have tables with the same names in another schema.
  const path = sql`SET search_path = ${sql.id((await currentSchema(database)) ?? 'public')}, pg_temp`
  await sql`
    CREATE FUNCTION keep_deleted_key() RETURNS trigger LANGUAGE plpgsql ${path} AS $$
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
  await createChangeFeed(database, path)
}

/**
 * What nodes hold in memory: trigger, table, when the trigger runs, and the arguments of
 * `note_change`.
 */
const FOLLOWED = [
  [
    ...['api_keys_change', 'api_keys'],
    ...['INSERT OR DELETE OR UPDATE OF account_id, name, sha256, masked_prefix', "'key', 'id'"],
  ],
  [
    ...['api_keys_lifetime_change', 'api_keys'],
    ...['UPDATE OF expires_at, previous_sha256, previous_ends_at', "'key', 'id'"],
  ],
  ['gates_change', 'gates', 'INSERT OR DELETE OR UPDATE', "'gate', 'id'"],
  ['owned_models_change', 'owned_models', 'INSERT OR DELETE OR UPDATE', "'owned-model', 'slug'"],
  [
    ...['provider_keys_change', 'provider_keys'],
    'INSERT OR DELETE OR UPDATE OF sealed_key, masked_key, active, updated_at',
    "'provider-key', 'provider'",
  ],
  ['budgets_change', 'budgets', 'INSERT OR DELETE OR UPDATE', "'budget', 'id'"],
  ['webhooks_change', 'webhooks', 'INSERT OR DELETE OR UPDATE', "'webhook', 'id'"],
  ['tags_change', 'tags', 'INSERT OR DELETE OR UPDATE', "'tag', 'id'"],
] as const

/**
 * Lets nodes follow each other's changes (docs/decisions/0019). Triggers run at the commit, so the
 * numbers follow the order of commits, and the counter's row is locked only during the commit.
 */
async function createChangeFeed(
  database: Kysely<Schema>,
  path: ReturnType<typeof sql>,
): Promise<void> {
  // A transaction's first change locks the counter's row with a write that changes nothing, and the
  // last trigger of the commit writes the number. Writing the row for each change would make
  // Postgres walk over all versions of the row.
  await sql`
    CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql ${path} AS $$
    DECLARE
      changed jsonb := CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
      last text := nullif(current_setting('gatehouse.last_change', true), '');
      next bigint := last::bigint + 1;
    BEGIN
      IF next IS NULL THEN
        SELECT value + 1 INTO next FROM change_counter WHERE id = 1 FOR UPDATE;
      END IF;
      PERFORM set_config('gatehouse.last_change', next::text, true);
      IF last IS NULL THEN
        UPDATE change_counter SET value = value WHERE id = 1;
      END IF;
      INSERT INTO changes (seq, at, account_id, resource_type, resource_id, operation)
      VALUES (next, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, changed->>'account_id', TG_ARGV[0],
        changed->>TG_ARGV[1], lower(TG_OP));
      PERFORM pg_notify('gatehouse_changes', '');
      RETURN NULL;
    END $$`.execute(database)
  await sql`
    CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql ${path} AS $$
    DECLARE
      last bigint := nullif(current_setting('gatehouse.last_change', true), '')::bigint;
    BEGIN
      IF last IS NULL THEN RETURN NULL; END IF;
      PERFORM set_config('gatehouse.last_change', '', true);
      UPDATE change_counter SET value = last WHERE id = 1;
      RETURN NULL;
    END $$`.execute(database)
  await sql`
    CREATE CONSTRAINT TRIGGER change_counter_last AFTER UPDATE ON change_counter
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.value = NEW.value)
    EXECUTE FUNCTION count_changes()`.execute(database)
  for (const [trigger, table, events, changed] of FOLLOWED)
    await sql
      .raw(
        `CREATE CONSTRAINT TRIGGER ${trigger} AFTER ${events} ON ${table}
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change(${changed})`,
      )
      .execute(database)
}

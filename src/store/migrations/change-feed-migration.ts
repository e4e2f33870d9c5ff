/**
 * Migration 0011: what lets several nodes follow each other's changes. Of Postgres alone: a file
 * has one process. The triggers are the database's own, so that no change passes them by: not an
 * older version's during an upgrade, not an operator's SQL, not the command line's. They run at the
 * commit, which makes the numbers those of its order and holds the counter's row no longer than the
 * commit itself takes.
 */
import { type Kysely, sql } from 'kysely'
import { currentSchema, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

/**
 * Each thing that nodes hold in memory: its table, the name of its changes, the column that names
 * one, the columns that matter.
 */
const FOLLOWED = [
  ['api_keys', 'key', 'id', ['account_id', 'name', 'sha256', 'masked_prefix']],
  ['gates', 'gate', 'id', []],
  ['owned_models', 'owned-model', 'slug', []],
  [
    'provider_keys',
    'provider-key',
    'provider',
    ['sealed_key', 'masked_key', 'active', 'updated_at'],
  ],
  ['budgets', 'budget', 'id', []],
  ['webhooks', 'webhook', 'id', []],
] as const

export const changeFeed: Step = {
  // The triggers write to tables of their own and refuse nothing: whoever knows what they watch
  // goes on as before.
  olderBuilds: { needs: '0010_budget_beginnings' },
  async up(database: Kysely<Schema>): Promise<void> {
    if (isSqlite(database)) return
    await database.schema
      .createTable('change_counter')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('value', 'bigint', (column) => column.notNull())
      .execute()
    await sql`INSERT INTO change_counter (id, value) VALUES (1, 0)`.execute(database)
    await database.schema
      .createTable('changes')
      .addColumn('seq', 'bigint', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('resource_type', 'text', (column) => column.notNull())
      .addColumn('resource_id', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .execute()
    await database.schema
      .createTable('nodes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('incarnation', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen', 'bigint', (column) => column.notNull())
      .addColumn('applied_seq', 'bigint', (column) => column.notNull())
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .addColumn('grace_until', 'bigint', (column) => column.notNull())
      .addColumn('needs_redis', 'integer', (column) => column.notNull())
      .execute()
    await createTriggers(database)
  },
}

async function createTriggers(database: Kysely<Schema>): Promise<void> {
  const schema = (await currentSchema(database)) ?? 'public'
  // The one who makes a change may have other tables of these names in front of ours.
  await sql`
    CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql SET search_path = ${sql.id(schema)}, pg_temp AS $$
    DECLARE
      changed jsonb := CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
      next bigint;
    BEGIN
      UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value INTO next;
      INSERT INTO changes (seq, at, account_id, resource_type, resource_id, operation)
      VALUES (next, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, changed->>'account_id', TG_ARGV[0],
        changed->>TG_ARGV[1], lower(TG_OP));
      PERFORM pg_notify('gatehouse_changes', '');
      RETURN NULL;
    END $$`.execute(database)
  for (const [table, type, id, columns] of FOLLOWED) {
    const list = sql.join(columns.map((column) => sql.ref(column)))
    const update = columns.length === 0 ? sql`UPDATE` : sql`UPDATE OF ${list}`
    await sql`
      CREATE CONSTRAINT TRIGGER ${sql.id(`${table}_change`)} AFTER INSERT OR ${update} OR DELETE ON ${sql.table(table)}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change(${sql.lit(type)}, ${sql.lit(id)})
    `.execute(database)
  }
}

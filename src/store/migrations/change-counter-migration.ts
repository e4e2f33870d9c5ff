/**
 * Migration 0028: the counter of changes is written twice a transaction, however much one changes.
 * Before, it was written for each row, and each time Postgres went through all versions that the
 * transaction had left of it. Never edited once released.
 */
import { type Kysely, sql } from 'kysely'
import { currentSchema, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const changeCounter: Step = {
  // Numbers come without gaps and in the order of commits, as before.
  olderBuilds: { needs: '0011_change_feed' },
  async up(database: Kysely<Schema>): Promise<void> {
    if (isSqlite(database)) return
    const schema = sql.id((await currentSchema(database)) ?? 'public')
    // The first change of a transaction takes the counter's row with a write that changes nothing.
    // Its trigger comes after all that wait for the commit, and writes the last number. It comes at
    // once, each time, where constraints are immediate.
    await sql`
      CREATE OR REPLACE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql
      SET search_path = ${schema}, pg_temp AS $$
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
      CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql
      SET search_path = ${schema}, pg_temp AS $$
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
  },
}

/**
 * Step 0029 of the schema's history: sums of months, and triggers that note which months are to be
 * summed up. Never edited once released.
 *
 * The triggers are the database's own because builds before this step go on beside it: they add to
 * hours, sum days up anew and know nothing of months.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { currentSchema, isSqlite, storedByKey } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'
import { createUsageTable } from './usage-migration.ts'

export const usageMonths: Step = {
  // It adds tables of its own, which the triggers write to, and refuses nothing.
  olderBuilds: { needs: '0026_due_days' },
  async up(database: Kysely<Schema>): Promise<void> {
    await createUsageTable(database, 'usage_months')
    for (const name of ['usage_rolled_months', 'usage_due_months'] as const) {
      const months = database.schema
        .createTable(name)
        .addColumn('starts_at', 'bigint', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint(`${name}_primary_key`, ['account_id', 'starts_at'])
      await storedByKey(database, months).execute()
    }
    await database.schema
      .createIndex('usage_due_months_by_time')
      .on('usage_due_months')
      .columns(['starts_at', 'account_id'])
      .execute()
    const month = isSqlite(database)
      ? monthOfSqlite(sql.ref('starts_at'))
      : monthOfPostgres(sql.ref('starts_at'))
    await sql`INSERT INTO usage_due_months (account_id, starts_at)
      SELECT DISTINCT account_id, ${month} FROM usage_rolled_days`.execute(database)
    if (isSqlite(database)) await createTriggersOfSqlite(database)
    else await createTriggersOfPostgres(database)
  },
}

async function createTriggersOfSqlite(database: Kysely<Schema>): Promise<void> {
  await sql`CREATE TRIGGER usage_month_due AFTER INSERT ON usage_rolled_days BEGIN
    INSERT INTO usage_due_months (account_id, starts_at)
    VALUES (NEW.account_id, ${monthOfSqlite(sql.raw('NEW.starts_at'))}) ON CONFLICT DO NOTHING;
  END`.execute(database)
  await sql`CREATE TRIGGER usage_month_late AFTER INSERT ON usage_due_days BEGIN
    DELETE FROM usage_rolled_months
    WHERE account_id = NEW.account_id AND starts_at = ${monthOfSqlite(sql.raw('NEW.starts_at'))};
  END`.execute(database)
  await sql`CREATE TRIGGER usage_month_changed AFTER DELETE ON usage_rolled_days BEGIN
    DELETE FROM usage_rolled_months
    WHERE account_id = OLD.account_id AND starts_at = ${monthOfSqlite(sql.raw('OLD.starts_at'))};
  END`.execute(database)
}

async function createTriggersOfPostgres(database: Kysely<Schema>): Promise<void> {
  const schema = (await currentSchema(database)) ?? 'public'
  // The one who makes a change may have other tables of these names in front of ours.
  const begin = (
    name: string,
  ) => sql`CREATE FUNCTION ${sql.id(name)}() RETURNS trigger LANGUAGE plpgsql
    SET search_path = ${sql.id(schema)}, pg_temp AS $$ BEGIN`
  await sql`${begin('note_due_month')}
    INSERT INTO usage_due_months (account_id, starts_at)
    VALUES (NEW.account_id, ${monthOfPostgres(sql.raw('NEW.starts_at'))}) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$`.execute(database)
  for (const [name, row] of [
    ['forget_late_month', 'NEW'],
    ['forget_changed_month', 'OLD'],
  ] as const)
    await sql`${begin(name)}
      DELETE FROM usage_rolled_months WHERE account_id = ${sql.raw(`${row}.account_id`)}
        AND starts_at = ${monthOfPostgres(sql.raw(`${row}.starts_at`))};
      RETURN NULL;
    END $$`.execute(database)
  await sql`CREATE TRIGGER usage_month_due AFTER INSERT ON usage_rolled_days
    FOR EACH ROW EXECUTE FUNCTION note_due_month()`.execute(database)
  await sql`CREATE TRIGGER usage_month_late AFTER INSERT ON usage_due_days
    FOR EACH ROW EXECUTE FUNCTION forget_late_month()`.execute(database)
  await sql`CREATE TRIGGER usage_month_changed AFTER DELETE ON usage_rolled_days
    FOR EACH ROW EXECUTE FUNCTION forget_changed_month()`.execute(database)
}

/**
 * The beginning of the month (UTC) that holds a moment, both in milliseconds since the Unix epoch.
 */
function monthOfSqlite(moment: RawBuilder<unknown>) {
  return sql`CAST(strftime('%s', ${moment} / 1000, 'unixepoch', 'start of month') AS INTEGER) * 1000`
}

function monthOfPostgres(moment: RawBuilder<unknown>) {
  return sql`(extract(epoch FROM date_trunc('month', to_timestamp(${moment} / 1000) AT TIME ZONE 'UTC')
    AT TIME ZONE 'UTC') * 1000)::bigint`
}

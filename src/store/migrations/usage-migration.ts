/**
 * The step that brings costs, roll-ups and the indexes of the log's filters. Must not know who
 * reads them.
 */
import { type CreateTableBuilder, type Kysely, type Migration, sql } from 'kysely'
import { toRecord } from '../calls/call-rows.ts'
import { storedByKey } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { sumCalls } from '../usage/sum-calls.ts'
import { addToTable } from '../usage/usage-writer.ts'

/** Calls read at a time when those of an earlier version are summed up. */
const ROWS_PER_STEP = 5_000

export const usageMigration: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    const addColumn = (name: string, type: 'text' | 'bigint') =>
      database.schema.alterTable('calls').addColumn(name, type).execute()
    await addColumn('cache_write_tokens', 'bigint')
    await addColumn('attempt_details', 'text')
    await addColumn('cost_micro_usd', 'bigint')
    await database.schema
      .alterTable('calls')
      .addColumn('cost_status', 'text', (column) => column.notNull().defaultTo('unknown'))
      .execute()
    await addColumn('price_source', 'text')

    // Each costs every call two to three microseconds, so there is none for targets: those are
    // looked for among all calls.
    for (const column of ['gate_id', 'key_id'] as const) {
      await database.schema
        .createIndex(`calls_by_${column}`)
        .on('calls')
        .columns(['account_id', column, 'started_at'])
        .execute()
    }
    // Few calls go wrong, so this costs nearly nothing; who looks into the log mostly looks for
    // them.
    await sql`CREATE INDEX calls_gone_wrong ON calls (account_id, started_at, id)
      WHERE outcome <> 'succeeded' OR status >= 400`.execute(database)

    await createUsageTable(database, 'usage_hours')
    await createUsageTable(database, 'usage_days')
    await database.schema
      .createTable('usage_rolled_days')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('starts_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_rolled_days_primary_key', ['account_id', 'starts_at'])
      .execute()
    await database.schema
      .createTable('usage_notes')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('sums', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_notes_primary_key', ['account_id', 'id'])
      .execute()
    // The code that writes hours knows this column by the name that step 0040 gives it. The costs
    // of these calls are unknown: they add 0.
    const hours = database.schema.alterTable('usage_hours')
    await hours.renameColumn('cost_micro_usd', 'cost_nano_usd').execute()
    await sumUpEarlierCalls(database)
    await hours.renameColumn('cost_nano_usd', 'cost_micro_usd').execute()
  },
}

/** Never edited once released: later steps make tables like it. */
export async function createUsageTable(
  database: Kysely<Schema>,
  name: 'usage_hours' | 'usage_days' | 'usage_months',
): Promise<void> {
  const counters = [
    'calls',
    'failed',
    'cancelled',
    'unreported',
    'input_tokens',
    'output_tokens',
    'cached_input_tokens',
    'reasoning_tokens',
    'cache_write_tokens',
    'cost_micro_usd',
    'cost_estimated',
    'cost_unknown',
  ] as const satisfies readonly (keyof UsageTable | 'cost_micro_usd')[]
  let table: CreateTableBuilder<string, string> = database.schema
    .createTable(name)
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('starts_at', 'bigint', (column) => column.notNull())
    .addColumn('gate_id', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('status_class', 'integer', (column) => column.notNull())
    .addColumn('credential', 'text', (column) => column.notNull())
  for (const counter of counters)
    table = table.addColumn(counter, 'bigint', (column) => column.notNull())
  table = table
    .addColumn('durations', 'text', (column) => column.notNull())
    .addColumn('first_bytes', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${name}_primary_key`, [
      'account_id',
      'starts_at',
      'gate_id',
      'target',
      'key_id',
      'status_class',
      'credential',
    ])
  await storedByKey(database, table).execute()
}

async function sumUpEarlierCalls(database: Kysely<Schema>): Promise<void> {
  let last = ''
  for (;;) {
    const rows = await database
      .selectFrom('calls')
      .selectAll()
      .where(sql<boolean>`id > ${last}`)
      .orderBy('id')
      .limit(ROWS_PER_STEP)
      .execute()
    // A later step sums their days up.
    await addToTable(database, 'usage_hours', sumCalls(rows.map(toRecord)), () => Promise.resolve())
    last = rows.at(-1)?.id ?? last
    if (rows.length < ROWS_PER_STEP) return
  }
}

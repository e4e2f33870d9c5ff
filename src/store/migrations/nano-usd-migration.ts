/**
 * Step 0040 of the schema's history: stored money becomes billionths of a US dollar. Never edited
 * once released.
 *
 * The columns get other names, so that a node of an earlier version that still runs fails to read
 * or write them and cannot mix the units. Its calls stay in its journal until it is upgraded.
 */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

const NANOS_PER_MICRO = 1_000
/** The highest cost of a call and the highest limit: 9 million US dollars. */
const GREATEST_AMOUNT = '9000000000000000'
/** Two such sums fit into a column's 63 bits. */
const GREATEST_SUM = '4000000000000000000'

const COLUMNS = [
  ['calls', 'cost_micro_usd', 'cost_nano_usd', GREATEST_AMOUNT],
  ['usage_hours', 'cost_micro_usd', 'cost_nano_usd', GREATEST_SUM],
  ['usage_days', 'cost_micro_usd', 'cost_nano_usd', GREATEST_SUM],
  ['usage_months', 'cost_micro_usd', 'cost_nano_usd', GREATEST_SUM],
  ['budgets', 'limit_micro_usd', 'limit_nano_usd', GREATEST_AMOUNT],
  ['budgets', 'first_micro_usd', 'first_nano_usd', GREATEST_SUM],
] as const

/** The place of the cost in a row of a note. */
const COST_MEMBER = 15
const NOTES_PER_STEP = 100

type Row = unknown[]

/** The tables of that time. */
interface NotesSchema {
  readonly usage_notes: { readonly account_id: string; readonly id: string; readonly sums: string }
  readonly usage_batches: { readonly id: number; readonly sums: string }
}

export const nanoUsd: Step = {
  olderBuilds: 'refuse',
  async up(database: Kysely<Schema>): Promise<void> {
    for (const column of COLUMNS) await scale(database, column)
    const notes = database as unknown as Kysely<NotesSchema>
    await scaleNotes(notes)
    if (isSqlite(database)) await scaleBatches(notes)
  },
}

async function scale(
  database: Kysely<Schema>,
  [table, before, after, greatest]: (typeof COLUMNS)[number],
): Promise<void> {
  await database.schema.alterTable(table).renameColumn(before, after).execute()
  const name = sql.ref(after)
  const scaled = sql`CASE WHEN ${name} > ${sql.raw(greatest)} / ${sql.lit(NANOS_PER_MICRO)}
    THEN ${sql.raw(greatest)} ELSE ${name} * ${sql.lit(NANOS_PER_MICRO)} END`
  if (isSqlite(database))
    await sql`UPDATE ${sql.table(table)} SET ${name} = ${scaled} WHERE ${name} <> 0`.execute(
      database,
    )
  // Writes the table once, where an UPDATE would leave each row twice.
  else
    await sql`ALTER TABLE ${sql.table(table)} ALTER COLUMN ${name} TYPE bigint USING ${scaled}`.execute(
      database,
    )
}

/** Notes wait to be added to the hours. */
async function scaleNotes(database: Kysely<NotesSchema>): Promise<void> {
  for (let after = ''; ; ) {
    const notes = await database
      .selectFrom('usage_notes')
      .select(['id', 'account_id', 'sums'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(NOTES_PER_STEP)
      .execute()
    for (const { id, account_id, sums } of notes)
      await database
        .updateTable('usage_notes')
        .set({ sums: JSON.stringify((JSON.parse(sums) as Row[]).map(scaleRow)) })
        .where('account_id', '=', account_id)
        .where('id', '=', id)
        .execute()
    const last = notes.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

async function scaleBatches(database: Kysely<NotesSchema>): Promise<void> {
  for (let after = 0; ; ) {
    const batches = await database
      .selectFrom('usage_batches')
      .select(['id', 'sums'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(NOTES_PER_STEP)
      .execute()
    for (const { id, sums } of batches)
      await database
        .updateTable('usage_batches')
        .set({ sums: sums.split('\n').map(scaleLine).join('\n') })
        .where('id', '=', id)
        .execute()
    const last = batches.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

function scaleLine(line: string): string {
  const [accountId, ...rows] = JSON.parse(line) as [string, ...Row[]]
  return JSON.stringify([accountId, ...rows.map(scaleRow)])
}

function scaleRow(row: Row): Row {
  return row.with(
    COST_MEMBER,
    Math.min(Number(row[COST_MEMBER]) * NANOS_PER_MICRO, Number(GREATEST_SUM)),
  )
}

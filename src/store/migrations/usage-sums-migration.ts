/**
 * Step 0044 of the schema's history: usage is kept by hour and by day, and both are incremented with
 * the calls. Never edited once released.
 *
 * Everything that was waiting is added to its hour, and days that were not summed up are summed up.
 * The tables that served that work are dropped, and so are sums by the month.
 */
import { type Kysely, sql } from 'kysely'
import { hasTable, isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { addToTable } from '../usage/usage-writer.ts'
import type { Step } from './newer-steps.ts'

const DAY_MS = 86_400_000
const NOTES_PER_STEP = 50
const ROWS_PER_STEP = 1_000

const KEY = [
  'account_id',
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
] as const

/** A row as it stood in a note: its columns by position, without the account. */
const MEMBERS = [
  ...KEY.slice(1),
  'calls',
  'failed',
  'cancelled',
  'unreported',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
  'cost_estimated',
  'cost_unknown',
  'durations',
  'first_bytes',
] as const

const DROPPED_TABLES = [
  'usage_rolled_days',
  'usage_due_days',
  'usage_folded_hours',
  'usage_months',
  'usage_rolled_months',
  'usage_due_months',
  'usage_notes',
  'usage_batches',
  'usage_settlement',
] as const

const DROPPED_FUNCTIONS = ['note_due_month', 'forget_late_month', 'forget_changed_month'] as const

/** The tables of before, of which the schema no longer knows. */
interface EarlierSchema {
  readonly usage_notes: { readonly account_id: string; readonly id: string; readonly sums: string }
  readonly usage_batches: { readonly id: number; readonly sums: string }
  readonly usage_settlement: { readonly last_batch: number; readonly account_id: string | null }
  readonly usage_rolled_days: { readonly account_id: string; readonly starts_at: number }
  readonly usage_folded_hours: { readonly account_id: string; readonly before_at: number }
}

export const usageSums: Step = {
  // An older build would add calls to neither hours nor days.
  olderBuilds: 'refuse',
  async up(database: Kysely<Schema>): Promise<void> {
    const earlier = database as unknown as Kysely<EarlierSchema>
    await addNotes(database, earlier)
    if (await hasTable(database, 'usage_batches')) await addBatches(database, earlier)
    await sumUpDays(database)
    await noteDeletedHours(database, earlier)
    for (const table of DROPPED_TABLES) await database.schema.dropTable(table).ifExists().execute()
    if (isSqlite(database)) return
    for (const name of DROPPED_FUNCTIONS)
      await sql`DROP FUNCTION ${sql.id(name)}()`.execute(database)
  },
}

async function addNotes(database: Kysely<Schema>, earlier: Kysely<EarlierSchema>): Promise<void> {
  for (let after = ''; ; ) {
    const notes = await earlier
      .selectFrom('usage_notes')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(NOTES_PER_STEP)
      .execute()
    await addToHours(
      database,
      notes.flatMap(({ account_id, sums }) => toRows(account_id, JSON.parse(sums))),
    )
    const last = notes.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/** On SQLite a note has a line for each account. Some may be in the hours already. */
async function addBatches(database: Kysely<Schema>, earlier: Kysely<EarlierSchema>): Promise<void> {
  const settled = await earlier.selectFrom('usage_settlement').selectAll().executeTakeFirst()
  const isSettled = (id: number, accountId: string) =>
    settled !== undefined &&
    id <= settled.last_batch &&
    (settled.account_id === null || accountId <= settled.account_id)
  for (let after = 0; ; ) {
    const batches = await earlier
      .selectFrom('usage_batches')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(NOTES_PER_STEP)
      .execute()
    const rows = batches.flatMap(({ id, sums }) =>
      sums.split('\n').flatMap((line) => {
        const [accountId, ...members] = JSON.parse(line) as [string, ...unknown[][]]
        return isSettled(id, accountId) ? [] : toRows(accountId, members)
      }),
    )
    await addToHours(database, rows)
    const last = batches.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

function toRows(accountId: string, rows: readonly (readonly unknown[])[]): readonly UsageTable[] {
  return rows.map(
    (members) =>
      Object.fromEntries([
        ['account_id', accountId],
        ...MEMBERS.map((name, index) => [name, members[index]]),
      ]) as unknown as UsageTable,
  )
}

/** Their days are summed up anew. */
async function addToHours(database: Kysely<Schema>, rows: readonly UsageTable[]): Promise<void> {
  await addToTable(database, 'usage_hours', rows, () => Promise.resolve())
  const days = new Map(
    rows.map(({ account_id, starts_at }) => {
      const day = starts_at - (starts_at % DAY_MS)
      return [`${account_id} ${day}`, { account_id, day }]
    }),
  )
  for (const { account_id, day } of days.values())
    await sql`DELETE FROM usage_rolled_days WHERE account_id = ${account_id} AND starts_at = ${day}`.execute(
      database,
    )
}

/** Days that are summed up stay as they are: their hours may be gone or folded into one. */
async function sumUpDays(database: Kysely<Schema>): Promise<void> {
  const isRolled = (table: string) => sql`EXISTS (SELECT 1 FROM usage_rolled_days AS rolled
    WHERE rolled.account_id = ${sql.ref(`${table}.account_id`)}
      AND rolled.starts_at = ${sql.ref(`${table}.starts_at`)} - ${sql.ref(`${table}.starts_at`)} % ${sql.lit(DAY_MS)})`
  await sql`DELETE FROM usage_days WHERE NOT ${isRolled('usage_days')}`.execute(database)
  const columns = sql.join([KEY[0], ...MEMBERS].map((name) => sql.ref(name)))
  const key = sql.join(KEY.map((name) => sql.ref(name)))
  let last: UsageTable | undefined
  do {
    const values = sql.join(
      KEY.map((name) =>
        name === 'starts_at' || name === 'status_class'
          ? sql`cast(${last?.[name]} as bigint)`
          : sql`${last?.[name]}`,
      ),
    )
    const after = last === undefined ? sql`` : sql`AND (${key}) > (${values})`
    const { rows }: { rows: UsageTable[] } = await sql<UsageTable>`
      SELECT ${columns} FROM usage_hours WHERE NOT ${isRolled('usage_hours')} ${after}
      ORDER BY ${key} LIMIT ${ROWS_PER_STEP}`.execute(database)
    await addToTable(database, 'usage_days', rows, () => Promise.resolve())
    last = rows.length < ROWS_PER_STEP ? undefined : rows.at(-1)
  } while (last !== undefined)
}

/** Folded hours cannot be told apart, like deleted ones. */
async function noteDeletedHours(
  database: Kysely<Schema>,
  earlier: Kysely<EarlierSchema>,
): Promise<void> {
  await database.deleteFrom('upkeep').where('name', '=', 'days: look at all').execute()
  const { before } = await earlier
    .selectFrom('usage_folded_hours')
    .select((eb) => eb.fn.max('before_at').as('before'))
    .executeTakeFirstOrThrow()
  if (before !== null)
    await database
      .insertInto('upkeep')
      .values({ name: 'usage_hours: deleted before', done_at: Number(before) })
      .execute()
}

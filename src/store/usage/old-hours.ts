/** Deletes expired hourly usage. Daily usage stays. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { KeptRows } from '../../core/retention-horizon.ts'
import { lockUsage } from '../changes/change-account.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { addToBeginnings } from './budget-beginnings.ts'
import { AMOUNT_COLUMNS, DAY_MS, DIMENSION_COLUMNS, type UsageRow } from './usage-columns.ts'

/** Rows of this table before a noted time are deleted. */
export type DeletedTable = 'usage_hours' | 'calls' | 'user_days'

const ACCOUNTS_PER_STEP = 100
const ROWS_PER_STEP = 250

export interface Pacing {
  readonly signal?: AbortSignal | undefined
  readonly between: () => Promise<unknown>
}

/**
 * The time before which rows of the table may be deleted, in milliseconds since the Unix epoch; of
 * sums, the beginning of a day. 0 before the first deletion.
 */
export async function findDeletedBefore(
  database: Kysely<Schema>,
  table: DeletedTable,
): Promise<number> {
  const row = await database
    .selectFrom('upkeep')
    .select('done_at')
    .where('name', '=', `${table}: deleted before`)
    .executeTakeFirst()
  return row?.done_at ?? 0
}

/**
 * The oldest and the newest hour of all accounts; undefined without hours. Hours are deleted by
 * whole days, so the oldest is given as the last moment of its day.
 */
export async function findHourBounds(
  database: Kysely<Schema>,
  { signal, between }: Pacing,
): Promise<KeptRows | undefined> {
  // A late call may have added an older hour, which the next deletion removes.
  const deletedBefore = await findDeletedBefore(database, 'usage_hours')
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for await (const some of listHours(database, deletedBefore)) {
    for (const { oldestMs, newestMs } of some) {
      oldest = Math.min(oldest, oldestMs ?? oldest)
      newest = Math.max(newest, newestMs)
    }
    if (signal?.aborted) return undefined
    await between()
  }
  if (!Number.isFinite(oldest)) return undefined
  return { oldestMs: oldest - (oldest % DAY_MS) + DAY_MS - 1, newestMs: newest }
}

export async function deleteHoursBefore(
  database: Kysely<Schema>,
  timeMs: number,
  { signal, between }: Pacing,
): Promise<number> {
  const beforeMs = timeMs - (timeMs % DAY_MS)
  await noteDeletedBefore(database, 'usage_hours', beforeMs)
  let deleted = 0
  for await (const some of listHours(database, 0)) {
    await between()
    for (const { accountId, oldestMs } of some) {
      if (oldestMs === null || oldestMs >= beforeMs) continue
      for (let rows = ROWS_PER_STEP; rows === ROWS_PER_STEP && !signal?.aborted; ) {
        rows = await deleteSome(database, accountId, beforeMs)
        deleted += rows
        await between()
      }
    }
    if (signal?.aborted) break
  }
  return deleted
}

interface AccountHours {
  readonly accountId: AccountId
  readonly oldestMs: number | null
  readonly newestMs: number
}

async function* listHours(
  database: Kysely<Schema>,
  fromMs: number,
): AsyncGenerator<readonly AccountHours[]> {
  for (let last = '' as AccountId; ; ) {
    const { rows } = await sql<AccountHours>`
      WITH RECURSIVE using_accounts (id, number) AS (
        SELECT MIN(account_id), 1 FROM usage_hours WHERE account_id > ${last}
        UNION ALL
        SELECT (SELECT MIN(later.account_id) FROM usage_hours AS later WHERE later.account_id > using_accounts.id),
          number + 1
        FROM using_accounts WHERE id IS NOT NULL AND number < ${ACCOUNTS_PER_STEP}
      )
      SELECT id AS "accountId",
        (SELECT MIN(hours.starts_at) FROM usage_hours AS hours
          WHERE hours.account_id = id AND hours.starts_at >= ${fromMs}) AS "oldestMs",
        (SELECT MAX(hours.starts_at) FROM usage_hours AS hours WHERE hours.account_id = id) AS "newestMs"
      FROM using_accounts WHERE id IS NOT NULL ORDER BY number
    `.execute(database)
    yield rows
    const end = rows.at(-1)
    if (end === undefined || rows.length < ACCOUNTS_PER_STEP) return
    last = end.accountId
  }
}

/** Call this before deleting, so that a reader never takes a deleted row for none. */
export async function noteDeletedBefore(
  database: Kysely<Schema>,
  table: DeletedTable,
  beforeMs: number,
): Promise<void> {
  await sql`
    INSERT INTO upkeep (name, done_at) VALUES (${`${table}: deleted before`}, ${beforeMs})
    ON CONFLICT (name) DO UPDATE SET done_at = excluded.done_at WHERE upkeep.done_at < excluded.done_at
  `.execute(database)
}

async function deleteSome(
  database: Kysely<Schema>,
  accountId: AccountId,
  beforeMs: number,
): Promise<number> {
  return await database.transaction().execute(async (transaction) => {
    await lockUsage(transaction, accountId)
    const rows = await deleteRows(transaction, accountId, beforeMs)
    await addToBeginnings(transaction, accountId, rows)
    return rows.length
  })
}

async function deleteRows(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  beforeMs: number,
): Promise<readonly UsageRow[]> {
  // Skips rows that a node is writing until the next pass, so that no node waits.
  const unlocked = isSqlite(transaction) ? sql`` : sql`FOR UPDATE SKIP LOCKED`
  // Materialized, because Postgres may evaluate a subquery repeatedly and skip other rows each
  // time.
  const { rows } = await sql<UsageRow>`
    WITH oldest AS MATERIALIZED (
      SELECT ${DIMENSION_COLUMNS} FROM usage_hours
      WHERE account_id = ${accountId} AND starts_at < ${beforeMs}
      ORDER BY starts_at LIMIT ${ROWS_PER_STEP} ${unlocked}
    )
    DELETE FROM usage_hours
    WHERE account_id = ${accountId} AND (${DIMENSION_COLUMNS}) IN (SELECT ${DIMENSION_COLUMNS} FROM oldest)
    RETURNING ${DIMENSION_COLUMNS}, ${AMOUNT_COLUMNS}
  `.execute(transaction)
  return rows
}

/**
 * Deletes expired sessions, sums by user and names of users, by account in steps. Sums by tag stay.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { KeptRows } from '../../core/retention-horizon.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { noteDeletedBefore, type Pacing } from './old-hours.ts'
import { DAY_MS } from './usage-columns.ts'

const ROWS_PER_STEP = 250
const NAMES_PER_STEP = 500

const EXPIRING = {
  user_days: { time: 'starts_at', id: 'user_id' },
  call_sessions: { time: 'last_at', id: 'session_id' },
} as const

type ExpiringTable = keyof typeof EXPIRING

/** Deletes the sessions whose last call is older. */
export async function deleteSessionsBefore(
  database: Kysely<Schema>,
  beforeMs: number,
  pacing: Pacing,
): Promise<number> {
  return await deleteBefore(database, 'call_sessions', { beforeMs, ...pacing })
}

/** Deletes whole days. */
export async function deleteUserDaysBefore(
  database: Kysely<Schema>,
  timeMs: number,
  pacing: Pacing,
): Promise<number> {
  const beforeMs = timeMs - (timeMs % DAY_MS)
  await noteDeletedBefore(database, 'user_days', beforeMs)
  return await deleteBefore(database, 'user_days', { beforeMs, ...pacing })
}

/**
 * Deletes the names of members and end users who were not seen since. Names of tags stay as long as
 * the sums by tag.
 */
export async function deleteUserNamesBefore(
  database: Kysely<Schema>,
  timeMs: number,
  { signal, between }: Pacing,
): Promise<number> {
  const beforeMs = timeMs - (timeMs % DAY_MS)
  let deleted = 0
  for await (const account of accountsIn(database, 'caller_names')) {
    // No index finds old names, so all names of an account are read in steps.
    for (let after: string | undefined = ''; after !== undefined; ) {
      if (signal?.aborted === true) return deleted
      await between()
      const names: readonly { readonly hash: string; readonly last_seen_at: number }[] =
        await database
          .selectFrom('caller_names')
          .select(['hash', 'last_seen_at'])
          .where('account_id', '=', account)
          .where('kind', '=', 'user')
          .where('hash', '>', after)
          .orderBy('hash')
          .limit(NAMES_PER_STEP)
          .execute()
      const old = names.filter(({ last_seen_at }) => last_seen_at < beforeMs)
      if (old.length > 0)
        await database
          .deleteFrom('caller_names')
          .where('account_id', '=', account)
          .where('kind', '=', 'user')
          .where(
            'hash',
            'in',
            old.map(({ hash }) => hash),
          )
          .where('last_seen_at', '<', beforeMs)
          .execute()
      deleted += old.length
      after = names.length < NAMES_PER_STEP ? undefined : names.at(-1)?.hash
    }
  }
  return deleted
}

/** Days are deleted as a whole, so the oldest is given as the last moment of its day. */
export async function findUserDayBounds(
  database: Kysely<Schema>,
  { signal, between }: Pacing,
): Promise<KeptRows | undefined> {
  let bounds: KeptRows | undefined
  for await (const account of accountsIn(database, 'user_days')) {
    if (signal?.aborted === true) return undefined
    await between()
    const { first, last } = await database
      .selectFrom('user_days')
      .select((eb) => [eb.fn.min('starts_at').as('first'), eb.fn.max('starts_at').as('last')])
      .where('account_id', '=', account)
      .executeTakeFirstOrThrow()
    const oldestMs = Number(first) + DAY_MS - 1
    bounds = {
      oldestMs: Math.min(bounds?.oldestMs ?? oldestMs, oldestMs),
      newestMs: Math.max(bounds?.newestMs ?? 0, Number(last)),
    }
  }
  return bounds
}

async function deleteBefore(
  database: Kysely<Schema>,
  table: ExpiringTable,
  { beforeMs, signal, between }: Pacing & { readonly beforeMs: number },
): Promise<number> {
  let deleted = 0
  for await (const account of accountsIn(database, table)) {
    for (let rows = ROWS_PER_STEP; rows === ROWS_PER_STEP && signal?.aborted !== true; ) {
      await between()
      rows = await deleteSome(database, table, { account, beforeMs })
      deleted += rows
    }
    if (signal?.aborted === true) break
  }
  return deleted
}

async function deleteSome(
  database: Kysely<Schema>,
  table: ExpiringTable,
  { account, beforeMs }: { readonly account: AccountId; readonly beforeMs: number },
): Promise<number> {
  const [time, id] = [sql.ref(EXPIRING[table].time), sql.ref(EXPIRING[table].id)]
  const key = sql`(account_id, ${time}, ${id})`
  // Skips rows that a node is writing until the next pass, so that no node waits.
  const unlocked = isSqlite(database) ? sql`` : sql`FOR UPDATE SKIP LOCKED`
  // Materialized, because Postgres may evaluate a subquery repeatedly and skip other rows each
  // time.
  const { numAffectedRows } = await sql`
    WITH oldest AS MATERIALIZED (
      SELECT account_id, ${time}, ${id} FROM ${sql.table(table)}
      WHERE account_id = ${account} AND ${time} < ${beforeMs}
      ORDER BY account_id, ${time} LIMIT ${ROWS_PER_STEP} ${unlocked}
    )
    DELETE FROM ${sql.table(table)}
    WHERE account_id = ${account} AND ${key} IN (SELECT account_id, ${time}, ${id} FROM oldest)
  `.execute(database)
  return Number(numAffectedRows ?? 0)
}

/** The accounts with rows in the table, found one by one through the index. */
async function* accountsIn(
  database: Kysely<Schema>,
  table: ExpiringTable | 'caller_names',
): AsyncGenerator<AccountId> {
  for (let last = ''; ; ) {
    const { rows } = await sql<{ id: AccountId | null }>`
      SELECT MIN(account_id) AS id FROM ${sql.table(table)} WHERE account_id > ${last}
    `.execute(database)
    const account = rows[0]?.id ?? null
    if (account === null) return
    yield account
    last = account
  }
}

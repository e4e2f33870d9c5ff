/** The latest day on which each of some users called, from the sums by day. */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { LoopTurns } from '../../core/loop-turns.ts'
import type { Schema } from '../schema.ts'
import { isIn } from './ranked-groups.ts'
import { DAY_MS } from './usage-columns.ts'
import type { Slice } from './usage-query.ts'

/** Reads the latest day first, because most users called on one of the latest days. */
export async function findLastDays(
  database: Kysely<Schema>,
  accountId: AccountId,
  { users, fromMs, toMs, turns }: Slice & { users: Iterable<string>; turns: LoopTurns },
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  const left = new Set(users)
  const lastDayMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS
  for (let dayMs = lastDayMs; left.size > 0 && dayMs > fromMs - DAY_MS; dayMs -= DAY_MS) {
    const { rows } = await sql<{ user_id: string }>`
      SELECT user_id FROM user_days WHERE account_id = ${accountId} AND starts_at = ${dayMs}
        AND calls > 0 AND ${isIn(database, sql.ref('user_id'), left)}`.execute(database)
    for (const { user_id } of rows) {
      found.set(user_id, dayMs)
      left.delete(user_id)
    }
    await turns.next()
  }
  return found
}

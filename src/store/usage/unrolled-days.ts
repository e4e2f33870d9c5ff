/**
 * Goes through all days of all accounts and finds those that are not summed up, a bounded number at
 * a time. For days that no note says are due: versions before that note left none. Must not change
 * anything.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'
import { DAY_MS } from './usage-hours.ts'

export interface AccountDay {
  readonly accountId: AccountId
  /** Its beginning: milliseconds since the Unix epoch. */
  readonly day: number
}

/** A place between two days, in the order of accounts and days. */
export interface DaysPlace {
  readonly accountId: AccountId
  /** The last one that was looked at; null: whatever comes after all of this account's. */
  readonly hour: number | null
}

interface Step {
  readonly unrolled: readonly AccountDay[]
  /** The beginning of the next step; undefined: that was the last one. */
  readonly next: DaysPlace | undefined
}

const BEFORE_ALL: DaysPlace = { accountId: '' as AccountId, hour: -DAY_MS }

/**
 * One statement, which seeks once for each day and once for each account: however many hours a day
 * has, one is read.
 * @param limit how many days and accounts it looks at
 */
export async function findUnrolledDays(
  database: Kysely<Schema>,
  place: DaysPlace | undefined,
  limit: number,
): Promise<Step> {
  const { accountId, hour } = place ?? BEFORE_ALL
  // `hour` is null where an account's days end; the row after it goes to the next account, and
  // begins before all its days.
  const { rows } = await sql<{ account_id: AccountId; hour: number | null; rolled: number | null }>`
    WITH RECURSIVE days (account_id, hour, number) AS (
      SELECT MIN(account_id), cast(${hour} AS bigint), 0 FROM usage_hours WHERE account_id >= ${accountId}
      UNION ALL
      SELECT
        CASE WHEN hour IS NULL
          THEN (SELECT MIN(later.account_id) FROM usage_hours AS later WHERE later.account_id > days.account_id)
          ELSE account_id END,
        CASE WHEN hour IS NULL THEN ${sql.lit(-DAY_MS)}
          ELSE (SELECT MIN(later.starts_at) FROM usage_hours AS later
            WHERE later.account_id = days.account_id
              AND later.starts_at >= days.hour - days.hour % ${sql.lit(DAY_MS)} + ${sql.lit(DAY_MS)}) END,
        number + 1
      FROM days
      WHERE account_id IS NOT NULL AND number < ${limit}
    )
    SELECT days.account_id, days.hour, rolled.starts_at AS rolled
    FROM days LEFT JOIN usage_rolled_days AS rolled
      ON rolled.account_id = days.account_id AND rolled.starts_at = days.hour - days.hour % ${sql.lit(DAY_MS)}
    WHERE days.account_id IS NOT NULL AND days.number > 0
    ORDER BY days.number
  `.execute(database)
  const unrolled = rows.flatMap(({ account_id, hour: first, rolled }) =>
    first === null || first < 0 || rolled !== null
      ? []
      : [{ accountId: account_id, day: Math.floor(first / DAY_MS) * DAY_MS }],
  )
  const last = rows.at(-1)
  if (last === undefined || rows.length < limit) return { unrolled, next: undefined }
  return { unrolled, next: { accountId: last.account_id, hour: last.hour } }
}

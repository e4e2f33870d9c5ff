/**
 * Folds the hours of old days: their sums become rows of the day's first hour, in place of a row an
 * hour. Sums of whole days stay the same, also those that are added up from hours, and also in a
 * build that knows nothing of folding; the time of day of a call is lost. Must not know how long
 * hours are kept.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { takeTurnAtUsage } from '../changes/change-account.ts'
import type { Schema } from '../schema.ts'
import { moveToBeginnings } from './budget-beginnings.ts'
import { findFoldedBefore } from './folded-before.ts'
import { shortenEncoded } from './latency-histogram.ts'
import type { AccountDay } from './unrolled-days.ts'
import { DAY_MS } from './usage-hours.ts'
import { type RollUpPass, sumUpRows } from './usage-roll-up.ts'

/** Two seeks each: half a millisecond of the event loop. */
const ACCOUNTS_PER_STEP = 100

/**
 * How often this process folded days of each account. A reader of a SQLite file, which takes
 * several statements, reads again if a fold came between them; on Postgres a transaction of its own
 * keeps it out.
 */
export type Folds = Map<AccountId, number>

/** Where an account's hours that can be told apart begin, and where they end. */
interface HourBounds {
  readonly accountId: AccountId
  /** Null: all are folded. */
  readonly oldestMs: number | null
  readonly newestMs: number
}

type Pacing = Omit<RollUpPass, 'nowMs'>

/** Of every account that has used anything, some at a time. */
async function* listHourBounds(database: Kysely<Schema>): AsyncGenerator<readonly HourBounds[]> {
  for (let last = '' as AccountId; ; ) {
    const { rows } = await sql<HourBounds>`
      WITH RECURSIVE using_accounts (id, number) AS (
        SELECT MIN(account_id), 1 FROM usage_hours WHERE account_id > ${last}
        UNION ALL
        SELECT (SELECT MIN(later.account_id) FROM usage_hours AS later WHERE later.account_id > using_accounts.id),
          number + 1
        FROM using_accounts WHERE id IS NOT NULL AND number < ${ACCOUNTS_PER_STEP}
      )
      SELECT id AS "accountId",
        (SELECT MIN(hours.starts_at) FROM usage_hours AS hours
          WHERE hours.account_id = id AND hours.starts_at >= COALESCE(folded.before_at, 0)) AS "oldestMs",
        (SELECT MAX(hours.starts_at) FROM usage_hours AS hours WHERE hours.account_id = id) AS "newestMs"
      FROM using_accounts LEFT JOIN usage_folded_hours AS folded ON folded.account_id = id
      WHERE id IS NOT NULL ORDER BY number
    `.execute(database)
    yield rows
    const end = rows.at(-1)
    if (end === undefined || rows.length < ACCOUNTS_PER_STEP) return
    last = end.accountId
  }
}

/**
 * The bounds of all accounts' hours together; undefined: there are none left to fold. The oldest
 * counts as if it was its day's last moment, for a day goes as a whole.
 */
export async function findHourBounds(
  database: Kysely<Schema>,
  { signal, between }: Pacing,
): Promise<{ readonly oldestMs: number; readonly newestMs: number } | undefined> {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for await (const some of listHourBounds(database)) {
    for (const { oldestMs, newestMs } of some) {
      oldest = Math.min(oldest, oldestMs ?? oldest)
      newest = Math.max(newest, newestMs)
    }
    if (signal?.aborted) return undefined
    await between()
  }
  if (!Number.isFinite(oldest)) return undefined
  return { oldestMs: Math.floor(oldest / DAY_MS) * DAY_MS + DAY_MS - 1, newestMs: newest }
}

/** Of days that ended before this time, a transaction each. @returns how many were folded */
export async function foldHours(
  database: Kysely<Schema>,
  beforeMs: number,
  { signal, between, folds }: Pacing & { readonly folds: Folds },
): Promise<number> {
  let folded = 0
  for await (const some of listHourBounds(database)) {
    await between()
    for (const { accountId, oldestMs } of some) {
      if (oldestMs === null || oldestMs >= beforeMs) continue
      while (!signal?.aborted && (await foldOldestDay(database, { accountId, beforeMs, folds }))) {
        folded += 1
        await between()
      }
    }
    if (signal?.aborted) break
  }
  return folded
}

/** @returns false where no day of the account is left that ended by then */
async function foldOldestDay(
  database: Kysely<Schema>,
  {
    accountId,
    beforeMs,
    folds,
  }: { readonly accountId: AccountId; readonly beforeMs: number; readonly folds: Folds },
): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    await takeTurnAtUsage(transaction, accountId)
    const foldedBefore = await findFoldedBefore(transaction, accountId)
    const oldest = await transaction
      .selectFrom('usage_hours')
      .select('starts_at')
      .where('account_id', '=', accountId)
      .where('starts_at', '>=', foldedBefore)
      .orderBy('starts_at')
      .limit(1)
      .executeTakeFirst()
    if (oldest === undefined) return false
    const day = Math.floor(oldest.starts_at / DAY_MS) * DAY_MS
    if (day + DAY_MS > beforeMs) return false
    await foldDay(transaction, { accountId, day }, folds)
    const mark = { account_id: accountId, before_at: day + DAY_MS }
    await transaction
      .insertInto('usage_folded_hours')
      .values(mark)
      .onConflict((conflict) =>
        conflict.column('account_id').doUpdateSet({ before_at: mark.before_at }),
      )
      .execute()
    return true
  })
}

/**
 * For a day that was folded and to whose hours a late call was added.
 * @param transaction has the turn at the account's usage
 */
export async function foldAgain(
  transaction: Transaction<Schema>,
  { accountId, day }: AccountDay,
  folds: Folds,
): Promise<void> {
  if (day < (await findFoldedBefore(transaction, accountId)))
    await foldDay(transaction, { accountId, day }, folds)
}

async function foldDay(
  transaction: Transaction<Schema>,
  { accountId, day }: AccountDay,
  folds: Folds,
): Promise<void> {
  const range = { fromMs: day, toMs: day + DAY_MS }
  await moveToBeginnings(transaction, accountId, range)
  await sumUpRows(transaction, {
    accountId,
    from: { table: 'usage_hours', ...range },
    into: { table: 'usage_hours', startsAt: day, untilMs: range.toMs },
    // Builds before the short form read hours.
    shorten: shortenEncoded,
  })
  // Before it is committed: who begins to read now waits for that.
  folds.set(accountId, (folds.get(accountId) ?? 0) + 1)
}

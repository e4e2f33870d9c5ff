/**
 * Sums days up to months, so that a year is read as twelve months and not as 365 days. The months
 * can always be summed again from the days. The database itself notes which months are due, and
 * forgets one that has changed: see usage-months-migration.ts.
 */
import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { spanOf } from '../../core/period.ts'
import { takeTurnAtUsage } from '../changes/change-account.ts'
import type { Schema } from '../schema.ts'
import { toShortForm } from './latency-histogram.ts'
import { findUnrolledDays } from './unrolled-days.ts'
import { DAY_MS } from './usage-hours.ts'
import { type RollUpPass, sumUpRows } from './usage-roll-up.ts'

/** Months that are read at a time from the list of those that are due. */
const MONTHS_PER_STEP = 100
/** A month has no more days, and its account no day beyond it that has to be looked at. */
const DAYS_OF_A_MONTH = 31

interface AccountMonth {
  readonly accountId: AccountId
  readonly month: number
}

/** Of months that are over. @returns how many were summed up */
export async function rollUpMonths(
  database: Kysely<Schema>,
  { nowMs, signal, between }: RollUpPass,
): Promise<number> {
  const thisMonthMs = spanOf('month', nowMs).startsAtMs
  let rolled = 0
  for (;;) {
    const due = await database
      .selectFrom('usage_due_months')
      .select(['account_id', 'starts_at'])
      .where('starts_at', '<', thisMonthMs)
      .orderBy('starts_at')
      .orderBy('account_id')
      .limit(MONTHS_PER_STEP)
      .execute()
    for (const { account_id, starts_at } of due) {
      if (signal?.aborted) return rolled
      if (await rollUpMonth(database, { accountId: account_id, month: starts_at })) rolled += 1
      await between()
    }
    if (due.length < MONTHS_PER_STEP) return rolled
  }
}

/** @returns false where a day of it is not summed up: that makes the month due again once it is */
async function rollUpMonth(
  database: Kysely<Schema>,
  { accountId, month }: AccountMonth,
): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    await takeTurnAtUsage(transaction, accountId)
    for (const table of ['usage_due_months', 'usage_rolled_months'] as const)
      await transaction
        .deleteFrom(table)
        .where('account_id', '=', accountId)
        .where('starts_at', '=', month)
        .execute()
    const { endsAtMs } = spanOf('month', month)
    if (await hasUnrolledDay(transaction, { accountId, month }, endsAtMs)) return false
    await sumUpRows(transaction, {
      accountId,
      from: { table: 'usage_days', fromMs: month, toMs: endsAtMs },
      into: { table: 'usage_months', startsAt: month },
      shorten: toShortForm,
    })
    await transaction
      .insertInto('usage_rolled_months')
      .values({ account_id: accountId, starts_at: month })
      .execute()
    return true
  })
}

async function hasUnrolledDay(
  transaction: Kysely<Schema>,
  { accountId, month }: AccountMonth,
  endsAtMs: number,
): Promise<boolean> {
  const due = await transaction
    .selectFrom('usage_due_days')
    .select('starts_at')
    .where('starts_at', '>=', month)
    .where('starts_at', '<', endsAtMs)
    .where('account_id', '=', accountId)
    .limit(1)
    .executeTakeFirst()
  if (due !== undefined) return true
  const place = { accountId, hour: month - DAY_MS }
  const { unrolled } = await findUnrolledDays(transaction, place, DAYS_OF_A_MONTH)
  return unrolled.some(
    ({ accountId: id, day }) => id === accountId && day >= month && day < endsAtMs,
  )
}

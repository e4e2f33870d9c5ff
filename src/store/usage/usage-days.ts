/**
 * Sums hours up to days, so that a month is read as thirty days and not as seven hundred hours,
 * then days to months. The days can always be summed again from the hours. A writer of hours notes
 * that their day is due, so nobody asks for days that are done with. Must not run while somebody
 * waits: it holds the database's only connection for as long as one day of one account takes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { takeTurnAtUsage } from '../changes/change-account.ts'
import type { Schema } from '../schema.ts'
import { type Folds, foldAgain } from './folded-hours.ts'
import { shortenEncoded } from './latency-histogram.ts'
import { type AccountDay, type DaysPlace, findUnrolledDays } from './unrolled-days.ts'
import { DAY_MS } from './usage-hours.ts'
import { rollUpMonths } from './usage-months.ts'
import { type RollUpPass, sumUpRows } from './usage-roll-up.ts'

/** Days that are read at a time from the list of those that are due. */
const DAYS_PER_STEP = 100
/** Days that one statement looks at: less than a millisecond of the event loop. */
const DAYS_PER_LOOK = 100
/** Most days have fewer. */
const ROWS_OF_A_DAY = 32
/** The name of this upkeep in its table. */
const LOOK_AT_ALL = 'days: look at all'
const LOOK_AT_ALL_EVERY_MS = 30 * DAY_MS

export interface RollUpOptions {
  /** Ends it after the step that it is at. */
  readonly signal?: AbortSignal
  /** Between steps. Default 0: the others' turn is enough. */
  readonly pauseMs?: number
  /** Awaited after so many rows. */
  readonly relieve?: (rows: number) => Promise<void>
  readonly folds?: Folds
}

export function paced({ pauseMs = 0, relieve = () => Promise.resolve() }: RollUpOptions) {
  return async (): Promise<void> => {
    await relieve(ROWS_OF_A_DAY)
    await (pauseMs > 0 ? Bun.sleep(pauseMs) : nextTurn())
  }
}

/** @returns how many days were summed up */
export async function rollUpDays(
  database: Kysely<Schema>,
  nowMs: number,
  options: RollUpOptions = {},
): Promise<number> {
  const { signal, folds = new Map() } = options
  const pass = { nowMs, signal, between: paced(options), folds }
  const days = (await rollUpDueDays(database, pass)) + (await rollUpMissedDays(database, pass))
  if (!signal?.aborted) await rollUpMonths(database, pass)
  return days
}

interface DaysPass extends RollUpPass {
  readonly folds: Folds
}

async function rollUpDueDays(database: Kysely<Schema>, pass: DaysPass): Promise<number> {
  let rolled = 0
  for (;;) {
    const due = await database
      .selectFrom('usage_due_days')
      .select(['account_id', 'starts_at'])
      .where('starts_at', '<', toDay(pass.nowMs))
      .orderBy('starts_at')
      .orderBy('account_id')
      .limit(DAYS_PER_STEP)
      .execute()
    for (const { account_id, starts_at } of due) {
      if (pass.signal?.aborted) return rolled
      if (await rollUpDay(database, { accountId: account_id, day: starts_at }, pass)) rolled += 1
      await pass.between()
    }
    if (due.length < DAYS_PER_STEP) return rolled
  }
}

/**
 * Now and then all days are gone through: a build of before this table adds to hours and leaves no
 * note of their day.
 */
async function rollUpMissedDays(database: Kysely<Schema>, pass: DaysPass): Promise<number> {
  const upkeep = await database
    .selectFrom('upkeep')
    .select('done_at')
    .where('name', '=', LOOK_AT_ALL)
    .executeTakeFirst()
  const sinceMs = upkeep === undefined ? Number.POSITIVE_INFINITY : pass.nowMs - upkeep.done_at
  if (sinceMs >= 0 && sinceMs < LOOK_AT_ALL_EVERY_MS) return 0
  let rolled = 0
  let place: DaysPlace | undefined
  do {
    const { unrolled, next } = await findUnrolledDays(database, place, DAYS_PER_LOOK)
    await pass.between()
    for (const missed of unrolled) {
      if (missed.day >= toDay(pass.nowMs)) continue
      if (pass.signal?.aborted) return rolled
      if (await rollUpDay(database, missed, pass)) rolled += 1
      await pass.between()
    }
    if (pass.signal?.aborted) return rolled
    place = next
  } while (place !== undefined)
  await database
    .insertInto('upkeep')
    .values({ name: LOOK_AT_ALL, done_at: pass.nowMs })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ done_at: pass.nowMs }))
    .execute()
  return rolled
}

function toDay(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS
}

async function isRolledUp(
  database: Kysely<Schema>,
  { accountId, day }: AccountDay,
): Promise<boolean> {
  const row = await database
    .selectFrom('usage_rolled_days')
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '=', day)
    .executeTakeFirst()
  return row !== undefined
}

/** @returns false when another node has done it meanwhile */
async function rollUpDay(
  database: Kysely<Schema>,
  { accountId, day }: AccountDay,
  { folds }: DaysPass,
): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    await takeTurnAtUsage(transaction, accountId)
    await transaction
      .deleteFrom('usage_due_days')
      .where('starts_at', '=', day)
      .where('account_id', '=', accountId)
      .execute()
    if (await isRolledUp(transaction, { accountId, day })) return false
    await sumUpRows(transaction, {
      accountId,
      from: { table: 'usage_hours', fromMs: day, toMs: day + DAY_MS },
      into: { table: 'usage_days', startsAt: day },
      // Builds before the short form read days.
      shorten: shortenEncoded,
    })
    await transaction
      .insertInto('usage_rolled_days')
      .values({ account_id: accountId, starts_at: day })
      .execute()
    // A late call made hours of it that can be told apart.
    await foldAgain(transaction, { accountId, day }, folds)
    return true
  })
}

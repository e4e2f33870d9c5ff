/**
 * Sums hours up to days, so that a month is read as thirty days and not as seven hundred hours. The days can always be made
 * again from the hours. Must not run while somebody waits: it holds the database's only connection for a while.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import { takeTurnAtUsage } from './change-account.ts'
import { joinEncoded, shortenEncoded } from './latency-histogram.ts'
import type { Schema, UsageTable } from './schema.ts'
import { COUNTERS, DAY_MS } from './usage-hours.ts'

/** Hours read at a time: about a millisecond of the event loop. */
const ROWS_PER_STEP = 250
const ROWS_PER_INSERT = 32

/** By name: a column that a later version has added to the hours need not be one of the days. */
const COLUMNS = [
  'account_id',
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
  ...COUNTERS,
  'durations',
  'first_bytes',
] as const satisfies readonly (keyof UsageTable)[]

/** @returns how many days were summed up */
export async function rollUpDays(database: Kysely<Schema>, nowMs: number): Promise<number> {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  let rolled = 0
  let last: { readonly accountId: AccountId; readonly day: number } | undefined
  for (;;) {
    const next = await findNextDay(database, last)
    if (next === undefined) return rolled
    last = next
    if (next.day >= today || (await isRolledUp(database, next))) continue
    if (await rollUpDay(database, next)) rolled += 1
  }
}

interface AccountDay {
  readonly accountId: AccountId
  readonly day: number
}

/** The first day with hours after this one, in the order of accounts and days: a seek each, however many hours there are. */
async function findNextDay(
  database: Kysely<Schema>,
  last: AccountDay | undefined,
): Promise<AccountDay | undefined> {
  const first = database.selectFrom('usage_hours').select(['account_id', 'starts_at']).limit(1)
  const row =
    (last &&
      (await first
        .where('account_id', '=', last.accountId)
        .where('starts_at', '>=', last.day + DAY_MS)
        .orderBy('starts_at')
        .executeTakeFirst())) ??
    (await first
      .where('account_id', '>', last?.accountId ?? ('' as AccountId))
      .orderBy('account_id')
      .orderBy('starts_at')
      .executeTakeFirst())
  return row && { accountId: row.account_id, day: Math.floor(row.starts_at / DAY_MS) * DAY_MS }
}

async function isRolledUp(database: Kysely<Schema>, { accountId, day }: AccountDay): Promise<boolean> {
  const row = await database
    .selectFrom('usage_rolled_days')
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '=', day)
    .executeTakeFirst()
  return row !== undefined
}

/** @returns false when another node has done it meanwhile */
async function rollUpDay(database: Kysely<Schema>, { accountId, day }: AccountDay): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    await takeTurnAtUsage(transaction, accountId)
    if (await isRolledUp(transaction, { accountId, day })) return false
    const sums = new Map<string, UsageTable>()
    for (let hour = day; hour < day + DAY_MS; hour += DAY_MS / 24) {
      for (let offset = 0; ; offset += ROWS_PER_STEP) {
        const rows = await transaction
          .selectFrom('usage_hours')
          .select(COLUMNS)
          .where('account_id', '=', accountId)
          .where('starts_at', '=', hour)
          .orderBy('gate_id')
          .orderBy('target')
          .orderBy('key_id')
          .orderBy('status_class')
          .orderBy('credential')
          .offset(offset)
          .limit(ROWS_PER_STEP)
          .execute()
        for (const row of rows) addHour(sums, row, day)
        await nextTurn()
        if (rows.length < ROWS_PER_STEP) break
      }
    }
    await transaction
      .deleteFrom('usage_days')
      .where('account_id', '=', accountId)
      .where('starts_at', '=', day)
      .execute()
    const days = [...sums.values()]
    for (let start = 0; start < days.length; start += ROWS_PER_INSERT) {
      await transaction
        .insertInto('usage_days')
        .values(days.slice(start, start + ROWS_PER_INSERT).map(withShortHistograms))
        .execute()
      await nextTurn()
    }
    await transaction
      .insertInto('usage_rolled_days')
      .values({ account_id: accountId, starts_at: day })
      .execute()
    return true
  })
}

/** Histograms are joined as text here and counted once at the end: many at once would take much memory. */
function addHour(sums: Map<string, UsageTable>, hour: UsageTable, day: number): void {
  const place = [hour.gate_id, hour.target, hour.key_id, hour.status_class, hour.credential].join('\u0000')
  const sum = sums.get(place)
  if (sum === undefined) {
    sums.set(place, { ...hour, starts_at: day })
    return
  }
  for (const name of COUNTERS) sum[name] += hour[name]
  sum.durations = joinEncoded(sum.durations, hour.durations)
  sum.first_bytes = joinEncoded(sum.first_bytes, hour.first_bytes)
}

function withShortHistograms(row: UsageTable): UsageTable {
  return { ...row, durations: shortenEncoded(row.durations), first_bytes: shortenEncoded(row.first_bytes) }
}

/**
 * Sums hours up to days, so that a month is read as thirty days and not as seven hundred hours. The days can always be made
 * again from the hours. Whoever adds to hours notes that their day is due, so days that are done with are not asked for. Must
 * not run while somebody waits: it holds the database's only connection for as long as one day of one account takes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { takeTurnAtUsage } from './change-account.ts'
import { joinEncoded, shortenEncoded } from './latency-histogram.ts'
import type { Schema, UsageTable } from './schema.ts'
import { type AccountDay, type DaysPlace, findUnrolledDays } from './unrolled-days.ts'
import { COUNTERS, DAY_MS } from './usage-hours.ts'

/** Hours read at a time: about a millisecond of the event loop. */
const ROWS_PER_STEP = 250
const ROWS_PER_INSERT = 32
/** Days that are read at a time from the list of those that are due. */
const DAYS_PER_STEP = 100
/** Days that one statement looks at: less than a millisecond of the event loop. */
const DAYS_PER_LOOK = 100
/** Most days have fewer. */
const ROWS_OF_A_DAY = 32
/** The name of this upkeep in its table. */
const LOOK_AT_ALL = 'days: look at all'
const LOOK_AT_ALL_EVERY_MS = 30 * DAY_MS

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

export interface RollUpOptions {
  /** Ends it after the step that it is at. */
  readonly signal?: AbortSignal
  /** Between steps. Default 0: the others' turn is enough. */
  readonly pauseMs?: number
  /** Awaited after so many rows. */
  readonly relieve?: (rows: number) => Promise<void>
}

/** @returns how many days were summed up */
export async function rollUpDays(
  database: Kysely<Schema>,
  nowMs: number,
  { signal, pauseMs = 0, relieve = () => Promise.resolve() }: RollUpOptions = {},
): Promise<number> {
  const between = async () => {
    await relieve(ROWS_OF_A_DAY)
    await (pauseMs > 0 ? Bun.sleep(pauseMs) : nextTurn())
  }
  const pass = { todayMs: Math.floor(nowMs / DAY_MS) * DAY_MS, nowMs, signal, between }
  return (await rollUpDueDays(database, pass)) + (await rollUpMissedDays(database, pass))
}

interface Pass {
  readonly nowMs: number
  readonly todayMs: number
  readonly signal: AbortSignal | undefined
  readonly between: () => Promise<unknown>
}

async function rollUpDueDays(database: Kysely<Schema>, pass: Pass): Promise<number> {
  let rolled = 0
  for (;;) {
    const due = await database
      .selectFrom('usage_due_days')
      .select(['account_id', 'starts_at'])
      .where('starts_at', '<', pass.todayMs)
      .orderBy('starts_at')
      .orderBy('account_id')
      .limit(DAYS_PER_STEP)
      .execute()
    for (const { account_id, starts_at } of due) {
      if (pass.signal?.aborted) return rolled
      if (await rollUpDay(database, { accountId: account_id, day: starts_at })) rolled += 1
      await pass.between()
    }
    if (due.length < DAYS_PER_STEP) return rolled
  }
}

/** Now and then all days are gone through: a build of before this table adds to hours and leaves no note of their day. */
async function rollUpMissedDays(database: Kysely<Schema>, pass: Pass): Promise<number> {
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
      if (missed.day >= pass.todayMs) continue
      if (pass.signal?.aborted) return rolled
      if (await rollUpDay(database, missed)) rolled += 1
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
    await transaction
      .deleteFrom('usage_due_days')
      .where('starts_at', '=', day)
      .where('account_id', '=', accountId)
      .execute()
    if (await isRolledUp(transaction, { accountId, day })) return false
    const sums = new Map<string, UsageTable>()
    let last: UsageTable | undefined
    for (;;) {
      const rows = await readHours(transaction, { accountId, day }, last)
      for (const row of rows) addHour(sums, row, day)
      if (rows.length < ROWS_PER_STEP) break
      last = rows.at(-1)
      await nextTurn()
    }
    while ((await deleteOfDay(transaction, { accountId, day })) === ROWS_PER_STEP) await nextTurn()
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

/** In the order of their places, after the last one. */
async function readHours(
  transaction: Kysely<Schema>,
  { accountId, day }: AccountDay,
  last: UsageTable | undefined,
): Promise<UsageTable[]> {
  const hours = transaction
    .selectFrom('usage_hours')
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .where('starts_at', '<', day + DAY_MS)
    .orderBy('starts_at')
    .orderBy('gate_id')
    .orderBy('target')
    .orderBy('key_id')
    .orderBy('status_class')
    .orderBy('credential')
    .limit(ROWS_PER_STEP)
  if (last === undefined) return await hours.where('starts_at', '>=', day).execute()
  const place = [
    last.starts_at,
    last.gate_id,
    last.target,
    last.key_id,
    sql`cast(${last.status_class} as bigint)`,
    last.credential,
  ]
  return await hours
    .where(
      sql<boolean>`(starts_at, gate_id, target, key_id, status_class, credential) > (${sql.join(place)})`,
    )
    .execute()
}

/** @returns how many rows of what was summed up of the day before; there may be more */
async function deleteOfDay(transaction: Kysely<Schema>, { accountId, day }: AccountDay): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM usage_days
    WHERE account_id = ${accountId} AND starts_at = ${day}
      AND (gate_id, target, key_id, status_class, credential) IN (
        SELECT gate_id, target, key_id, status_class, credential FROM usage_days
        WHERE account_id = ${accountId} AND starts_at = ${day} LIMIT ${ROWS_PER_STEP}
      )
  `.execute(transaction)
  return Number(numAffectedRows)
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

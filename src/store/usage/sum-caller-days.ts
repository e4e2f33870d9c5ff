/** The usage of a user or a tag: whole days from their sums, and parts of days from the calls. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { startOfDay } from '../../core/time-zone.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { findDeletedBefore } from './old-hours.ts'
import { type Amounts, addRow, addTo } from './range-sums.ts'
import { type CallRange, sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { type AmountColumns, DAY_MS, summedAmounts } from './usage-columns.ts'

/** Once the calls of a part of a day are deleted, the whole day counts. */
export async function sumOfCaller(
  database: Kysely<Schema>,
  range: CallRange,
): Promise<UsedAmounts> {
  const sum: Amounts = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  const untilMs = Number.isFinite(range.untilMs)
    ? range.untilMs
    : await findEndOfDays(database, range)
  const days: number[] = []
  for (let dayMs = startOfDay(range.fromMs); dayMs < untilMs; dayMs += DAY_MS) {
    const fromMs = Math.max(dayMs, range.fromMs)
    const endMs = Math.min(dayMs + DAY_MS, untilMs)
    const isWhole = endMs - fromMs === DAY_MS
    if (isWhole || (await findDeletedBefore(database, 'calls')) > fromMs) days.push(dayMs)
    else addTo(sum, await sumOfCalls(database, { ...range, fromMs, untilMs: endMs }))
  }
  if (days.length > 0) addTo(sum, await sumOfDays(database, range, days))
  return sum
}

async function sumOfDays(
  database: Kysely<Schema>,
  range: CallRange,
  days: readonly number[],
): Promise<UsedAmounts> {
  const { table, isCaller } = tableOf(range)
  const { rows } = await sql<AmountColumns>`
    SELECT ${summedAmounts(database)}
    FROM ${sql.table(table)}
    WHERE account_id = ${range.accountId} AND ${isOneOf(database, days)} AND ${isCaller}
    HAVING COUNT(*) > 0
  `.execute(database)
  const sum: Amounts = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  for (const row of rows) addRow(sum, row)
  return sum
}

function isOneOf(database: Kysely<Schema>, days: readonly number[]): RawBuilder<unknown> {
  if (isSqlite(database))
    return sql`starts_at IN (SELECT value FROM json_each(${JSON.stringify(days)}))`
  return sql`starts_at = ANY (cast(${`{${days.join(',')}}`} AS bigint[]))`
}

/** The end of the account's last day in the table, which a wrong clock may have written. */
async function findEndOfDays(database: Kysely<Schema>, range: CallRange): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`
    SELECT MAX(starts_at) AS last FROM ${sql.table(tableOf(range).table)}
    WHERE account_id = ${range.accountId}`.execute(database)
  const last = rows[0]?.last
  return last == null ? 0 : Number(last) + DAY_MS
}

function tableOf({ userId, tagId }: CallRange) {
  return userId === undefined
    ? { table: 'tag_days', isCaller: sql`tag_id = ${tagId}` }
    : { table: 'user_days', isCaller: sql`user_id = ${userId}` }
}

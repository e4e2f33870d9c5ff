/**
 * Has the database add up the usage of one key or one gate within less than two days, from the sums
 * of hours. Must not know who needs the sum.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { isSqlite, sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { CallRange, UsedAmounts } from './sum-call-rows.ts'
import { HOUR_MS } from './usage-hours.ts'

/**
 * A file is read on the event loop: the rows of all keys and gates of so many hours, a tenth of a
 * microsecond each.
 */
const HOURS_OF_SQLITE = 2
const HOURS_OF_POSTGRES = 48

/** @throws the signal's reason (rejects) */
export async function sumOfHours(
  database: Kysely<Schema>,
  { accountId, keyId, gateId, fromMs, untilMs }: CallRange,
  signal?: AbortSignal,
): Promise<UsedAmounts> {
  const stepMs = (isSqlite(database) ? HOURS_OF_SQLITE : HOURS_OF_POSTGRES) * HOUR_MS
  const scope = keyId === undefined ? sql`gate_id = ${gateId}` : sql`key_id = ${keyId}`
  const used = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  const sum = (column: string) => sumOf(database, column)
  for (let startMs = fromMs; startMs < untilMs; startMs += stepMs) {
    signal?.throwIfAborted()
    // Of each row by itself, as in pages.
    const { rows } = await sql<{ [Name in keyof UsedAmounts]: number | null }>`
      SELECT ${sum('input_tokens')} + ${sum('output_tokens')} AS tokens, ${sum('cost_nano_usd')} AS "nanoUsd",
        SUM(CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END) AS "unpricedCalls"
      FROM usage_hours
      WHERE account_id = ${accountId} AND starts_at >= ${startMs}
        AND starts_at < ${Math.min(startMs + stepMs, untilMs)} AND ${scope}
    `.execute(database)
    used.tokens += rows[0]?.tokens ?? 0
    used.nanoUsd += rows[0]?.nanoUsd ?? 0
    used.unpricedCalls += rows[0]?.unpricedCalls ?? 0
    await nextTurn()
  }
  return used
}

/** The usage of a part of an hour, from the calls that retention has left, in steps. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { LedgerScope } from '../../core/budget.ts'
import type { AccountId } from '../../core/ids.ts'
import { sumOf } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export interface UsedAmounts {
  readonly tokens: number
  readonly nanoUsd: number
  /** Calls with reported usage and unknown cost. */
  readonly unpricedCalls: number
}

export interface ScopedRange extends LedgerScope {
  readonly fromMs: number
  readonly untilMs: number
}

export interface CallRange extends ScopedRange {
  readonly accountId: AccountId
}

const CALLS_PER_STEP = 500
/** More calls per step, because a filter by key or gate reads few rows. */
const SCOPED_CALLS_PER_STEP = 2_000

const isUnpriced = sql<SqlBool>`cost_nano_usd IS NULL AND input_tokens IS NOT NULL`

export async function sumOfCalls(database: Kysely<Schema>, range: CallRange): Promise<UsedAmounts> {
  const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  let startMs = range.fromMs
  while (startMs < range.untilMs) {
    const endMs = await findStepEnd(database, { ...range, fromMs: startMs })
    const row = await sumAtOnce(database, { ...range, fromMs: startMs, untilMs: endMs })
    sum.tokens += (row.input_tokens ?? 0) + (row.output_tokens ?? 0)
    sum.nanoUsd += row.nano_usd ?? 0
    sum.unpricedCalls += row.unpriced ?? 0
    startMs = endMs
    await nextTurn()
  }
  return sum
}

/**
 * The end of a step that contains all calls of its last millisecond. Counts all calls of the
 * account, because the calls of a key or gate are found through the index by time. Users and tags
 * have indexes of their own.
 */
async function findStepEnd(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs, keyId, gateId, userId, tagId }: CallRange,
): Promise<number> {
  const isScoped = keyId !== undefined || gateId !== undefined
  const row = await callsOf(database, { accountId, fromMs, untilMs, userId, tagId })
    .select('started_at')
    .orderBy('started_at')
    .offset(isScoped ? SCOPED_CALLS_PER_STEP : CALLS_PER_STEP)
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? untilMs : Math.max(row.started_at, fromMs + 1)
}

async function sumAtOnce(database: Kysely<Schema>, range: CallRange) {
  return await callsOf(database, range)
    .select([
      sumOf(database, 'input_tokens').as('input_tokens'),
      sumOf(database, 'output_tokens').as('output_tokens'),
      sumOf(database, 'cost_nano_usd').as('nano_usd'),
      sql<number | null>`SUM(CASE WHEN ${isUnpriced} THEN 1 ELSE 0 END)`.as('unpriced'),
    ])
    .executeTakeFirstOrThrow()
}

function callsOf(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs, keyId, gateId, userId, tagId }: CallRange,
) {
  let calls = database
    .selectFrom('calls')
    .where('account_id', '=', accountId)
    .where('started_at', '>=', fromMs)
    .where('started_at', '<', untilMs)
  if (keyId !== undefined) calls = calls.where('key_id', '=', keyId)
  if (gateId !== undefined) calls = calls.where('gate_id', '=', gateId)
  if (userId !== undefined) calls = calls.where('user_id', '=', userId)
  if (tagId !== undefined)
    calls = calls.where('tag_ids', 'is not', null).where('tag_ids', 'like', `%${tagId}%`)
  return calls
}

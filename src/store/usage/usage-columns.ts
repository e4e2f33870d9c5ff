import { type Kysely, type RawBuilder, sql } from 'kysely'
import { sumOf } from '../database/sql-differences.ts'
import type { CallerCounters, CounterColumns, UsageTable } from '../schema.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Every column except the key and the histograms. These columns are added up. */
export const COUNTERS = [
  'calls',
  'failed',
  'cancelled',
  'unreported',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
  'cost_estimated',
  'cost_unknown',
] as const satisfies readonly (keyof UsageTable)[]

/** Every counter at zero. Copy, do not modify. */
export const NO_USAGE: Readonly<CounterColumns> = {
  calls: 0,
  failed: 0,
  cancelled: 0,
  unreported: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cache_write_tokens: 0,
  cost_nano_usd: 0,
  cost_estimated: 0,
  cost_unknown: 0,
}

/** The counters of sums by user, tag and session. */
export const CALLER_COUNTERS = [
  ...COUNTERS,
  'refused',
] as const satisfies readonly (keyof CallerCounters)[]

/** Every counter at zero. Copy, do not modify. */
export const NO_CALLER_USAGE: Readonly<CallerCounters> = { ...NO_USAGE, refused: 0 }

export const DIMENSIONS = [
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
] as const satisfies readonly (keyof UsageTable)[]

export type Dimensions = Pick<UsageTable, 'account_id' | (typeof DIMENSIONS)[number]>

export const DIMENSION_COLUMNS = sql.join(DIMENSIONS.map((name) => sql.ref(name)))

export type UsageTableName = 'usage_hours' | 'usage_days'

/** Sums by day of calls with a user, or with tags. */
export type CallerDayTableName = 'user_days' | 'tag_days'

/** The tables from which usage is read. `calls`: what retention has left. */
export type SourceTable = UsageTableName | CallerDayTableName | 'calls'

/** What limits count. */
export interface AmountColumns {
  readonly tokens: number
  readonly cost_nano_usd: number
  /** Calls with reported usage and unknown cost. */
  readonly unpriced: number
}

export interface UsageRow extends Readonly<Omit<Dimensions, 'account_id'>>, AmountColumns {}

/** Calls of a row with reported usage and unknown cost. */
export const UNPRICED = sql`CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END`

/**
 * The amounts that limits count, computed per row: a call to a target without reported usage is
 * either free or of unknown cost.
 */
export const AMOUNT_COLUMNS = sql`1.0 * input_tokens + output_tokens AS tokens, cost_nano_usd,
  ${UNPRICED} AS unpriced`

/** The columns of `AmountColumns` over several rows, null without any. */
export function summedAmounts<Tables>(database: Kysely<Tables>): RawBuilder<unknown> {
  return sql`${sumOf(database, 'input_tokens')} + ${sumOf(database, 'output_tokens')} AS tokens,
    ${sumOf(database, 'cost_nano_usd')} AS cost_nano_usd, SUM(${UNPRICED}) AS unpriced`
}

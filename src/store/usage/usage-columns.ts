/** The columns of `usage_hours` and `usage_days`, and the largest numbers that they hold. */
import { sql } from 'kysely'
import type { UsageTable } from '../schema.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Everything of a row but its key and its histograms: these columns are added up. */
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

/** The columns that tell an account's rows apart, in the order of the tables' primary key. */
export const DIMENSIONS = [
  'starts_at',
  'gate_id',
  'target',
  'key_id',
  'status_class',
  'credential',
] as const satisfies readonly (keyof UsageTable)[]

export type Dimensions = Pick<UsageTable, 'account_id' | (typeof DIMENSIONS)[number]>

/** `DIMENSIONS` in a statement, to select them or to sort by them. */
export const DIMENSION_COLUMNS = sql.join(DIMENSIONS.map((name) => sql.ref(name)))

export type UsageTableName = 'usage_hours' | 'usage_days'

/** One account's usage of one hour or day, by dimensions. */
export interface UsageRow extends Readonly<Omit<Dimensions, 'account_id'>> {
  /** Input and output together. */
  readonly tokens: number
  readonly cost_nano_usd: number
  /** Calls that reported what they used and whose cost is not known. */
  readonly unpriced: number
}

/**
 * What limits count, for each row by itself: calls to one target that report no usage are either
 * free or of unknown cost.
 */
export const AMOUNT_COLUMNS = sql`1.0 * input_tokens + output_tokens AS tokens, cost_nano_usd,
  CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END AS unpriced`

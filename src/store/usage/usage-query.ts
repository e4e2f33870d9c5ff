/** A usage query, the rows that answer it, and the time of its steps. */
import type { AccountId } from '../../core/ids.ts'
import type { LoopTurns } from '../../core/loop-turns.ts'
import { spanOf } from '../../core/period.ts'
import type { UsageGroup, UsageInterval } from '../../core/usage.ts'
import type { CallerFilter } from '../calls/call-pages.ts'
import { COUNTERS, DAY_MS, HOUR_MS, type UsageTableName } from './usage-columns.ts'

export interface UsageQuery extends CallerFilter {
  readonly fromMs: number
  readonly toMs: number
  readonly interval: UsageInterval
  readonly groupBy: UsageGroup | null
  /** A second dimension: groups are pairs (group-pairs.ts). */
  readonly thenBy?: UsageGroup
  /**
   * The only member whose playground calls have a group of keys of their own; empty: no member. Those
   * of other members have the group `PLAYGROUND_KEY`. Undefined: all members have their own.
   */
  readonly onlyMember?: string | undefined
  readonly gateId?: string
  readonly target?: string
  readonly keyId?: string
}

export interface Span {
  readonly table: UsageTableName
  readonly fromMs: number
  readonly toMs: number
}

export interface UsageReading {
  readonly accountId: AccountId
  readonly query: UsageQuery
  readonly turns: LoopTurns
  /** `ranks`: only what ranks groups. `counters`: everything except histograms. Default: all. */
  readonly columns?: 'ranks' | 'counters'
  /** Whether sums over the whole range are made from the steps' rows. */
  readonly hasTotals?: boolean
  /** Default true. False: histograms are only added to the sums over the whole range. */
  readonly hasPercentilesOfSteps?: boolean
  /** Sums of a group in a step that are held at once. Default: a bound of the memory. */
  readonly mostSums?: number
  /** The groups of the page. The other groups need not be told apart. */
  readonly groups?: PageGroups
  /** The sums by step of calls without a user or tag, in the whole days of the range. */
  readonly rest?: readonly SummedRow[]
}

export interface PageGroups {
  readonly shown: ReadonlySet<string | null>
  readonly before: ReadonlySet<string | null>
}

export const SUMMED = [...COUNTERS, 'refused', 'unpriced'] as const

export type SummedRow = Readonly<Record<(typeof SUMMED)[number], number>> & {
  readonly starts_at: number
  readonly group: string | number | null
  /** Of the second dimension, if there is one. */
  readonly second?: string | number | null
  readonly durations: string | null
  readonly first_bytes: string | null
}

export const RANKED = ['calls', 'failed', 'input_tokens', 'output_tokens', 'cost_nano_usd'] as const

export type RankedRow = Pick<SummedRow, 'group' | 'second' | 'refused' | (typeof RANKED)[number]>

export interface ReadRows<Row> {
  readonly rows: readonly Row[]
  readonly reachedMs: number
}

export interface Slice {
  readonly fromMs: number
  readonly toMs: number
}

export function toStart(
  startsAt: number,
  { interval, fromMs }: Pick<UsageQuery, 'interval' | 'fromMs'>,
): number {
  switch (interval) {
    case 'all':
      return fromMs
    case 'hour':
      return Math.floor(startsAt / HOUR_MS) * HOUR_MS
    case 'day':
      return Math.floor(startsAt / DAY_MS) * DAY_MS
    case 'month':
      return spanOf('month', startsAt).startsAtMs
  }
}

export function planSpans({
  fromMs,
  toMs,
  interval,
}: Pick<UsageQuery, 'fromMs' | 'toMs' | 'interval'>): readonly Span[] {
  const firstDayMs = Math.ceil(fromMs / DAY_MS) * DAY_MS
  const lastDayMs = Math.floor(toMs / DAY_MS) * DAY_MS
  if (interval === 'hour' || firstDayMs >= lastDayMs)
    return fromMs < toMs ? [{ table: 'usage_hours', fromMs, toMs }] : []
  const spans: readonly Span[] = [
    { table: 'usage_hours', fromMs, toMs: firstDayMs },
    { table: 'usage_days', fromMs: firstDayMs, toMs: lastDayMs },
    { table: 'usage_hours', fromMs: lastDayMs, toMs },
  ]
  return spans.filter((span) => span.fromMs < span.toMs)
}

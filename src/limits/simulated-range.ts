/** The range of time of a simulated budget. */
import { type Period, spanOf } from '../core/period.ts'

export interface SimulatedRange {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/** Full periods simulated by default. */
const PERIODS: Readonly<Record<Exclude<Period, 'total'>, number>> = { day: 7, week: 4, month: 1 }

interface RangeRequest {
  readonly period: Period
  /** Default: UTC. */
  readonly timeZone?: string | undefined
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
  readonly nowMs: number
  /** Older calls are deleted; 0 before the first deletion. */
  readonly oldestMs: number
  /** How long calls are retained. */
  readonly retainedMs: number
}

/** Begins with the oldest call that may be retained. The range is empty when all calls are deleted. */
export function toSimulatedRange({
  period,
  timeZone,
  fromMs,
  toMs,
  nowMs,
  oldestMs,
  retainedMs,
}: RangeRequest): SimulatedRange {
  const isRequested = fromMs !== undefined || toMs !== undefined
  const end = Math.min(nowMs, toMs ?? (isRequested ? nowMs : lastEnd(period, nowMs, timeZone)))
  const begin =
    fromMs ?? (period === 'total' ? end - retainedMs : beforePeriods(period, end, timeZone))
  // After a short retention nothing of the last full period may be left.
  if (!isRequested && oldestMs >= end) return { fromMs: oldestMs, toMs: nowMs }
  return { fromMs: Math.max(begin, oldestMs), toMs: end }
}

function lastEnd(period: Period, nowMs: number, timeZone?: string): number {
  return period === 'total' ? nowMs : spanOf(period, nowMs, timeZone).startsAtMs
}

function beforePeriods(period: Exclude<Period, 'total'>, endMs: number, timeZone?: string): number {
  let startsAtMs = endMs
  for (let left = PERIODS[period]; left > 0; left -= 1)
    startsAtMs = spanOf(period, startsAtMs - 1, timeZone).startsAtMs
  return startsAtMs
}

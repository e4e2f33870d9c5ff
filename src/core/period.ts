/** The periods of quotas and budgets, in UTC. */

/** `total`: all time. */
export const PERIODS = ['day', 'week', 'month', 'total'] as const
export type Period = (typeof PERIODS)[number]

export interface Span {
  readonly startsAtMs: number
  /** End of the period, exclusive; infinite for `total`. */
  readonly endsAtMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** 1970-01-05, a Monday: weeks are those of ISO 8601. */
const FIRST_MONDAY_MS = 4 * DAY_MS

export function spanOf(period: Period, atMs: number): Span {
  switch (period) {
    case 'day':
      return spanFrom(Math.floor(atMs / DAY_MS) * DAY_MS, DAY_MS)
    case 'week': {
      const weeks = Math.floor((atMs - FIRST_MONDAY_MS) / (7 * DAY_MS))
      return spanFrom(FIRST_MONDAY_MS + weeks * 7 * DAY_MS, 7 * DAY_MS)
    }
    case 'month': {
      const date = new Date(atMs)
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
      return { startsAtMs: Date.UTC(year, month), endsAtMs: Date.UTC(year, month + 1) }
    }
    case 'total':
      return { startsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY }
  }
}

export function hourOf(atMs: number): Span {
  return spanFrom(Math.floor(atMs / HOUR_MS) * HOUR_MS, HOUR_MS)
}

function spanFrom(startsAtMs: number, lengthMs: number): Span {
  return { startsAtMs, endsAtMs: startsAtMs + lengthMs }
}

/** The periods of quotas and budgets, in UTC or in another time zone. */
import { DAY_MS, dateOf, startOfDate, UTC } from './time-zone.ts'

/** `total`: all time. */
export const PERIODS = ['day', 'week', 'month', 'total'] as const
export type Period = (typeof PERIODS)[number]

export interface Span {
  readonly startsAtMs: number
  /** End of the period, exclusive; infinite for `total`. */
  readonly endsAtMs: number
}

const HOUR_MS = 3_600_000
/** Days from 1970-01-01 to the first Monday: weeks are those of ISO 8601. */
const FIRST_MONDAY = 4

/** @param zone of the first moment of each period */
export function spanOf(period: Period, atMs: number, zone: string = UTC): Span {
  if (period === 'total') return { startsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY }
  if (zone !== UTC) return spanIn(period, atMs, zone)
  const { first, next } = DATES[period](Math.floor(atMs / DAY_MS))
  return { startsAtMs: first * DAY_MS, endsAtMs: next * DAY_MS }
}

export function hourOf(atMs: number): Span {
  const startsAtMs = Math.floor(atMs / HOUR_MS) * HOUR_MS
  return { startsAtMs, endsAtMs: startsAtMs + HOUR_MS }
}

type DatedPeriod = Exclude<Period, 'total'>

interface Dates {
  readonly first: number
  readonly next: number
}

/** The first dates of the period of a date and of the next period, in days since 1970-01-01. */
const DATES: Readonly<Record<DatedPeriod, (date: number) => Dates>> = {
  day: (date) => ({ first: date, next: date + 1 }),
  week(date) {
    const first = date - ((((date - FIRST_MONDAY) % 7) + 7) % 7)
    return { first, next: first + 7 }
  },
  month(date) {
    const day = new Date(date * DAY_MS)
    const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()]
    return { first: Date.UTC(year, month) / DAY_MS, next: Date.UTC(year, month + 1) / DAY_MS }
  },
}

/** Many budgets ask for the same period when it begins, and finding a first moment is slow. */
const latest = new Map<string, Span>()
const MOST_LATEST = 500

function spanIn(period: DatedPeriod, atMs: number, zone: string): Span {
  const key = `${period} ${zone}`
  const known = latest.get(key)
  if (known !== undefined && known.startsAtMs <= atMs && atMs < known.endsAtMs) return known
  const span = findSpan(period, atMs, zone)
  if (latest.size >= MOST_LATEST) latest.clear()
  latest.set(key, span)
  return span
}

function findSpan(period: DatedPeriod, atMs: number, zone: string): Span {
  let { first, next } = DATES[period](dateOf(atMs, zone))
  // Clocks that are set back over midnight repeat the end of a date after its successor began.
  while (startOfDate(next, zone) <= atMs) ({ first, next } = DATES[period](next))
  while (startOfDate(first, zone) > atMs) ({ first, next } = DATES[period](first - 1))
  return { startsAtMs: startOfDate(first, zone), endsAtMs: startOfDate(next, zone) }
}

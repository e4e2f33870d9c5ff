/**
 * The clock that the pages show, the reader's own or UTC, and what days and fields mean by it.
 * Knows no page, nor which one is chosen.
 */

export type TimeZone = 'local' | 'utc'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The browser's name of it: `Europe/Zurich`. */
export function nameZone(zone: TimeZone): string {
  return zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** How far it is from UTC then: `UTC+1`, `UTC−3:30`, `UTC`. */
export function nameOffset(zone: TimeZone, timeMs: number): string {
  const minutes = Math.round(offsetMs(zone, timeMs) / MINUTE_MS)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/**
 * True where its hours begin with those of UTC then: those are the shortest steps that sums are
 * kept by.
 */
export function hasWholeHours(zone: TimeZone, timeMs: number): boolean {
  return offsetMs(zone, timeMs) % HOUR_MS === 0
}

export function isMidnight(timeMs: number, zone: TimeZone): boolean {
  const time = new Date(timeMs)
  return (zone === 'utc' ? time.getUTCHours() : time.getHours()) === 0
}

/** The day that the moment is in, as fields and addresses hold it: `2026-11-21`. */
export function toDay(timeMs: number, zone: TimeZone): string {
  return asIfUtc(timeMs, zone).slice(0, 10)
}

/**
 * The beginning of a day. Days later are counted by the calendar: some have 23 hours, some 25.
 * @returns milliseconds since the Unix epoch; NaN: there is no such day
 */
export function startOfDay(day: string, zone: TimeZone, daysLater = 0): number {
  if (!DAY.test(day)) return Number.NaN
  const start = new Date(zone === 'utc' ? `${day}T00:00:00Z` : `${day}T00:00:00`)
  if (zone === 'utc') start.setUTCDate(start.getUTCDate() + daysLater)
  else start.setDate(start.getDate() + daysLater)
  return start.getTime()
}

/** The form of a field for date and time: `2026-11-21T14:03`, which says no zone. */
export function toFieldTime(timeMs: number, zone: TimeZone): string {
  return asIfUtc(timeMs, zone).slice(0, 16)
}

/** @returns milliseconds since the Unix epoch; NaN: the field holds no time */
export function parseFieldTime(text: string, zone: TimeZone): number {
  return text === '' ? Number.NaN : new Date(zone === 'utc' ? `${text}Z` : text).getTime()
}

/** The clock's face as if it were that of UTC. */
function asIfUtc(timeMs: number, zone: TimeZone): string {
  return new Date(timeMs + offsetMs(zone, timeMs)).toISOString()
}

function offsetMs(zone: TimeZone, timeMs: number): number {
  return zone === 'utc' ? 0 : -new Date(timeMs).getTimezoneOffset() * MINUTE_MS
}

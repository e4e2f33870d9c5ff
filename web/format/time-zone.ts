/** The clock of the pages, the reader's own or UTC, and its days and fields. */

export type TimeZone = 'local' | 'utc'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

export function nameZone(zone: TimeZone): string {
  return zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function nameOffset(zone: TimeZone, timeMs: number): string {
  const minutes = Math.round(offsetMs(zone, timeMs) / MINUTE_MS)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

export function hasWholeHours(zone: TimeZone, timeMs: number): boolean {
  return offsetMs(zone, timeMs) % HOUR_MS === 0
}

export function isMidnight(timeMs: number, zone: TimeZone): boolean {
  const time = new Date(timeMs)
  return (zone === 'utc' ? time.getUTCHours() : time.getHours()) === 0
}

export function toDay(timeMs: number, zone: TimeZone): string {
  return asIfUtc(timeMs, zone).slice(0, 10)
}

/**
 * The beginning of a day. Later days are counted by the calendar, because some days have 23 or 25
 * hours.
 * @returns milliseconds since the Unix epoch; NaN for an invalid day
 */
export function startOfDay(day: string, zone: TimeZone, daysLater = 0): number {
  if (!DAY.test(day)) return Number.NaN
  const start = new Date(zone === 'utc' ? `${day}T00:00:00Z` : `${day}T00:00:00`)
  if (zone === 'utc') start.setUTCDate(start.getUTCDate() + daysLater)
  else start.setDate(start.getDate() + daysLater)
  return start.getTime()
}

export function toFieldTime(timeMs: number, zone: TimeZone): string {
  return asIfUtc(timeMs, zone).slice(0, 16)
}

/** @returns milliseconds since the Unix epoch; NaN for an invalid time */
export function parseFieldTime(text: string, zone: TimeZone): number {
  return text === '' ? Number.NaN : new Date(zone === 'utc' ? `${text}Z` : text).getTime()
}

function asIfUtc(timeMs: number, zone: TimeZone): string {
  return new Date(timeMs + offsetMs(zone, timeMs)).toISOString()
}

function offsetMs(zone: TimeZone, timeMs: number): number {
  return zone === 'utc' ? 0 : -new Date(timeMs).getTimezoneOffset() * MINUTE_MS
}

/** Local dates of IANA time zones, from the runtime's own data. */

export const UTC = 'UTC'
export const DAY_MS = 86_400_000
/** In UTC. */
export function startOfDay(timeMs: number): number {
  return timeMs - (timeMs % DAY_MS)
}

/** Larger than any zone's difference from UTC. */
const MOST_OFFSET_MS = 16 * 3_600_000

/** Offsets such as `+05:30` are refused, because they do not follow daylight saving time. */
export function isTimeZone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined
}

/** @returns the name in the usual case: `Europe/Berlin` for `europe/berlin` */
export function toZoneName(name: string): string {
  return formatOf(name)?.resolvedOptions().timeZone ?? name
}

const formats = new Map<string, Intl.DateTimeFormat>()
/** Names of zones come from requests, so the cache is bounded. */
const MOST_FORMATS = 100

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone)
  if (known !== undefined) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    })
    if (formats.size >= MOST_FORMATS) formats.clear()
    formats.set(zone, format)
    return format
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** @returns the local date, as days since 1970-01-01 */
export function dateOf(atMs: number, zone: string): number {
  const [month = 1, day = 1, year = 1970] = (formatOf(zone)?.format(atMs) ?? '')
    .split('/')
    .map(Number)
  return Date.UTC(year, month - 1, day) / DAY_MS
}

/**
 * The first moment of a local date: midnight, or later where the clocks skip midnight.
 * @param date days since 1970-01-01
 */
export function startOfDate(date: number, zone: string): number {
  let before = date * DAY_MS - MOST_OFFSET_MS
  let after = date * DAY_MS + MOST_OFFSET_MS
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (dateOf(middle, zone) < date) before = middle
    else after = middle
  }
  return after
}

import type { StepLength } from './time-range.ts'
import type { TimeZone } from './time-zone.ts'

/**
 * The pages are in English, so times use English words, digits and calendar, in the order and clock
 * of the reader's region.
 */
export function inEnglish(locale: string): string {
  const { region } = new Intl.Locale(locale).maximize()
  const parts = { calendar: 'gregory', ...(region === undefined ? {} : { region }) }
  return new Intl.Locale('en', parts).toString()
}

const LOCALE = inEnglish(new Intl.DateTimeFormat().resolvedOptions().locale)

/** Formats are created per zone when first needed, because a page needs few formats. */
function inZones(options: Intl.DateTimeFormatOptions): (timeMs: number, zone: TimeZone) => string {
  const made: Partial<Record<TimeZone, Intl.DateTimeFormat>> = {}
  return (timeMs, zone) => {
    made[zone] ??= new Intl.DateTimeFormat(
      LOCALE,
      zone === 'utc' ? { ...options, timeZone: 'UTC' } : options,
    )
    return made[zone].format(timeMs)
  }
}

const dateTime = inZones({ dateStyle: 'medium', timeStyle: 'medium' })
const date = inZones({ dateStyle: 'medium' })
const dateHour = inZones({ dateStyle: 'medium', timeStyle: 'short' })
const shortDate = inZones({ month: 'short', day: 'numeric' })
const dayTime = inZones({
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' })

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

type Moment = string | number | Date

export function formatDateTime(moment: Moment, zone: TimeZone): string {
  return dateTime(new Date(moment).getTime(), zone)
}

export function formatDate(moment: Moment, zone: TimeZone): string {
  return date(new Date(moment).getTime(), zone)
}

export function formatDateHour(moment: Moment, zone: TimeZone): string {
  return dateHour(new Date(moment).getTime(), zone)
}

export function formatDayTime(moment: Moment, zone: TimeZone): string {
  return dayTime(new Date(moment).getTime(), zone)
}

export function formatRelative(moment: Moment, now: number = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1_000
  for (const [index, [unit, size]] of UNITS.entries()) {
    // As the smaller unit would be rounded, so that an hour is never called 60 minutes.
    const smaller = UNITS[index + 1]?.[1]
    const rounded = smaller === undefined ? seconds : Math.round(seconds / smaller) * smaller
    if (Math.abs(rounded) >= size) return relative.format(Math.round(seconds / size), unit)
  }
  return 'just now'
}

const remaining = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always' })
const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400
const TWO_DAYS_MS = 2 * DAY_S * 1_000

/**
 * `in 9 days`, `in 23 hours`, `in less than a minute`: for expiry, where `next week` is too vague.
 */
export function formatRemaining(moment: Moment, now: number = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1_000
  if (seconds < MINUTE_S) return 'in less than a minute'
  if (seconds < HOUR_S) return remaining.format(Math.floor(seconds / MINUTE_S), 'minute')
  if (seconds < 2 * DAY_S) return remaining.format(Math.round(seconds / HOUR_S), 'hour')
  return remaining.format(Math.round(seconds / DAY_S), 'day')
}

const LONG_DAY = { weekday: 'short', month: 'short', day: 'numeric' } as const
const CLOCK = { hour: '2-digit', minute: '2-digit' } as const

const STEP_FORMATS = {
  hour: { short: inZones(CLOCK), long: inZones({ ...LONG_DAY, ...CLOCK }) },
  day: { short: shortDate, long: inZones({ ...LONG_DAY, year: 'numeric' }) },
  month: {
    short: inZones({ month: 'short', year: '2-digit' }),
    long: inZones({ month: 'long', year: 'numeric' }),
  },
} as const

/**
 * Sums are stored by UTC days and months, which in another zone would seem to begin the day before.
 */
export function zoneOfSteps(step: StepLength, zone: TimeZone): TimeZone {
  return step === 'hour' ? zone : 'utc'
}

/**
 * The chart step that begins at this time, in full: `Sat, Nov 21, 14:00`, `Sat, Nov 21, 2026`,
 * `November 2026`.
 */
export function formatStep(startMs: number, step: StepLength, zone: TimeZone): string {
  return STEP_FORMATS[step].long(startMs, zoneOfSteps(step, zone))
}

/**
 * The chart step in short, for an axis.
 * @param spanMs of the whole axis; hours show their day beyond two days
 */
export function formatStepShort(
  startMs: number,
  step: StepLength,
  { zone, spanMs }: { readonly zone: TimeZone; readonly spanMs: number },
): string {
  if (step === 'hour' && spanMs > TWO_DAYS_MS) return shortDate(startMs, zone)
  return STEP_FORMATS[step].short(startMs, zoneOfSteps(step, zone))
}

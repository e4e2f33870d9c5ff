/** Moments as people read them, in the reader's own zone. Knows no page. */

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const shortDate = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** The reader's time zone, to be said once where times are shown. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

export function formatDateTime(moment: string | number | Date): string {
  return dateTime.format(new Date(moment))
}

export function formatDate(moment: string | number | Date): string {
  return date.format(new Date(moment))
}

/** `Nov 21, 14:03:07`, for rows of a log. */
export function formatDayTime(moment: string | number | Date): string {
  return dayTime.format(new Date(moment))
}

/** `3 minutes ago`, `in 2 days`, `just now`. */
export function formatRelative(moment: string | number | Date, now: number = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1_000
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit)
  }
  return 'just now'
}

const remaining = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })
const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** `in 9 days`, `in 23 hours`, `in less than a minute`: for what ends, where `next week` says too little. */
export function formatRemaining(moment: string | number | Date, now: number = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1_000
  if (seconds < MINUTE_S) return 'in less than a minute'
  if (seconds < HOUR_S) return remaining.format(Math.floor(seconds / MINUTE_S), 'minute')
  if (seconds < 2 * DAY_S) return remaining.format(Math.round(seconds / HOUR_S), 'hour')
  return remaining.format(Math.round(seconds / DAY_S), 'day')
}

const STEP_FORMATS = {
  hour: {
    short: hour,
    long: new Intl.DateTimeFormat(undefined, {
      weekday: 'short',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    }),
  },
  // Sums are kept by days and months of UTC: shown in another zone, they would seem to begin the day before.
  day: {
    short: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' }),
    long: new Intl.DateTimeFormat(undefined, {
      weekday: 'short',
      month: 'short',
      day: 'numeric',
      year: 'numeric',
      timeZone: 'UTC',
    }),
  },
  month: {
    short: new Intl.DateTimeFormat(undefined, { month: 'short', year: '2-digit', timeZone: 'UTC' }),
    long: new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }),
  },
} as const

/** The step of a chart that begins then, whole: `Sat, Nov 21, 14:00`, `Sat, Nov 21, 2026`, `November 2026`. */
export function formatStep(startMs: number, step: 'hour' | 'day' | 'month'): string {
  return STEP_FORMATS[step].long.format(startMs)
}

/** The same for an axis. @param spanMs of the whole axis: beyond two days its hours are told by their day */
export function formatStepShort(
  startMs: number,
  step: 'hour' | 'day' | 'month',
  spanMs: number,
): string {
  if (step === 'hour' && spanMs > 172_800_000) return shortDate.format(startMs)
  return STEP_FORMATS[step].short.format(startMs)
}

import { hasWholeHours, nameOffset, startOfDay, type TimeZone, toDay } from './time-zone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const RANGE_NAMES = ['24h', '7d', '30d', 'month', 'custom'] as const
export type RangeName = (typeof RANGE_NAMES)[number]
export type StepLength = 'hour' | 'day' | 'month'

export interface RangeChoice {
  readonly range: RangeName
  /**
   * For `custom`: the first and last day, both inclusive, in UTC like all days of sums:
   * `2026-11-01`. Or two times, the second exclusive, so that readers in other zones see the same
   * calls.
   */
  readonly from?: string
  readonly to?: string
}

export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

export interface ResolvedRange {
  readonly current: Period
  /** Undefined while the range has no complete hour. */
  readonly compared: ComparedPeriods | undefined
  readonly step: StepLength
  /** Whether the range begins with a UTC day, whatever zone the reader chose. */
  readonly hasUtcDays: boolean
  readonly runningFromMs: number | undefined
  /** Whether the range ends now, so that its figures can change. */
  readonly isOngoing: boolean
}

/**
 * Periods of the same length, because a part of a day cannot be compared with a whole day. Both
 * periods exclude the current hour.
 */
export interface ComparedPeriods {
  readonly finished: Period
  readonly before: Period
}

const DEFAULT: RangeChoice = { range: '7d' }
/** More steps than this are too thin to distinguish. */
const MAX_DAY_STEPS = 100
const LONGEST_MONTH_BY_HOUR_MS = 2 * DAY_MS
/** The API's limit. A week in which clocks are set back has an hour more. */
const LONGEST_BY_HOUR_MS = 7 * DAY_MS + HOUR_MS

/** Accepts any address. An invalid range becomes the default. */
export function parseRangeChoice(search: Readonly<Record<string, unknown>>): RangeChoice {
  const range = RANGE_NAMES.find((name) => name === search.range)
  if (range === undefined) return DEFAULT
  if (range !== 'custom') return { range }
  const [from, to] = [parseDay(search.from), parseDay(search.to)]
  if (from !== undefined && to !== undefined)
    return from > to ? DEFAULT : { range, from: toDay(from, 'utc'), to: toDay(to, 'utc') }
  const [begin, end] = [parseMoment(search.from), parseMoment(search.to)]
  if (begin === undefined || end === undefined || begin >= end) return DEFAULT
  return between(floorTo(HOUR_MS, begin), ceilTo(HOUR_MS, end))
}

export function chooseDays(from: string, to: string, zone: TimeZone): RangeChoice {
  if (zone === 'utc' || zoneOfDays(from, to, zone) === 'utc') return { range: 'custom', from, to }
  return between(startOfDay(from, zone), startOfDay(to, zone, 1))
}

/** The zone of these days: a week is summed from its hours, longer ranges from UTC days. */
export function zoneOfDays(from: string, to: string, zone: TimeZone): TimeZone {
  const [fromMs, toMs] = [startOfDay(from, zone), startOfDay(to, zone, 1)]
  const isWhole = hasWholeHours(zone, fromMs) && hasWholeHours(zone, toMs)
  return isWhole && toMs - fromMs <= LONGEST_BY_HOUR_MS ? zone : 'utc'
}

export function toDays(
  { from, to }: RangeChoice,
  zone: TimeZone,
): readonly [from: string, to: string] | [] {
  if (from === undefined || to === undefined) return []
  if (parseDay(from) !== undefined) return [from, to]
  return [toDay(Date.parse(from), zone), toDay(Date.parse(to) - 1, zone)]
}

export function describeUtcDays(
  { step, hasUtcDays, current }: ResolvedRange,
  zone: TimeZone,
): string {
  if (!hasUtcDays || nameOffset(zone, current.fromMs) === 'UTC') return ''
  return step === 'hour'
    ? 'The chart’s days are in UTC.'
    : `Each step is a ${step} in UTC, like the stored sums.`
}

/** The steps begin where the steps of the sums do: on the hour, or at midnight UTC. */
export function resolveRange(choice: RangeChoice, nowMs: number): ResolvedRange {
  const thisHourMs = floorTo(HOUR_MS, nowMs)
  const toMs = thisHourMs + HOUR_MS
  const today = floorTo(DAY_MS, nowMs)
  const until = { thisHourMs, toMs }
  switch (choice.range) {
    case '24h':
      return resolve({ ...until, fromMs: toMs - DAY_MS, shiftMs: DAY_MS, step: 'hour' })
    case '7d':
      return resolve({ ...until, fromMs: toMs - 7 * DAY_MS, shiftMs: 7 * DAY_MS, step: 'hour' })
    case '30d':
      return resolve({ ...until, fromMs: today - 29 * DAY_MS, shiftMs: 30 * DAY_MS, step: 'day' })
    case 'month':
      return resolveMonth(nowMs, until)
    case 'custom':
      return resolveCustom(choice, thisHourMs)
  }
}

export function periodOfStep({ current, step }: ResolvedRange, startMs: number): Period {
  return { fromMs: startMs, toMs: Math.min(nextStep(startMs, step), current.toMs) }
}

export function listSteps({ fromMs, toMs }: Period, step: StepLength): readonly number[] {
  const steps: number[] = []
  for (let startMs = fromMs; startMs < toMs; startMs = nextStep(startMs, step)) steps.push(startMs)
  return steps
}

function nextStep(startMs: number, step: StepLength): number {
  if (step === 'hour') return startMs + HOUR_MS
  if (step === 'day') return (Math.floor(startMs / DAY_MS) + 1) * DAY_MS
  return monthStart(startMs, 1)
}

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  readonly thisHourMs: number
  readonly shiftMs: number
  readonly step: StepLength
  readonly hasUtcDays?: boolean
}

function resolve(stretch: Stretch): ResolvedRange {
  const { fromMs, toMs, thisHourMs, shiftMs, step, hasUtcDays = step !== 'hour' } = stretch
  const current = { fromMs, toMs }
  // The previous range may be shorter, like February; then only as much of this range is compared.
  const overMs = Math.min(thisHourMs, toMs, fromMs + shiftMs)
  return {
    current,
    compared:
      overMs > fromMs
        ? {
            finished: { fromMs, toMs: overMs },
            before: {
              fromMs: Math.max(0, fromMs - shiftMs),
              toMs: Math.max(HOUR_MS, overMs - shiftMs),
            },
          }
        : undefined,
    step,
    hasUtcDays,
    runningFromMs: toMs > thisHourMs ? listSteps(current, step).at(-1) : undefined,
    isOngoing: toMs > thisHourMs,
  }
}

/** Compares the 5th at noon with the 5th at noon of the previous month. */
function resolveMonth(
  nowMs: number,
  until: { readonly thisHourMs: number; readonly toMs: number },
): ResolvedRange {
  const fromMs = monthStart(nowMs, 0)
  return resolve({
    ...until,
    fromMs,
    shiftMs: fromMs - monthStart(nowMs, -1),
    step: until.toMs - fromMs <= LONGEST_MONTH_BY_HOUR_MS ? 'hour' : 'day',
    hasUtcDays: true,
  })
}

function resolveCustom(choice: RangeChoice, thisHourMs: number): ResolvedRange {
  const firstDay = parseDay(choice.from)
  const lastDay = parseDay(choice.to)
  const fromMs = firstDay ?? parseMoment(choice.from) ?? 0
  const endMs = lastDay === undefined ? (parseMoment(choice.to) ?? DAY_MS) : lastDay + DAY_MS
  const length = endMs - fromMs
  return resolve({
    fromMs,
    // Future steps have no figures and would be drawn as if no calls had been made.
    toMs: fromMs > thisHourMs ? endMs : Math.min(endMs, thisHourMs + HOUR_MS),
    thisHourMs,
    shiftMs: length,
    step:
      length <= LONGEST_BY_HOUR_MS ? 'hour' : length <= MAX_DAY_STEPS * DAY_MS ? 'day' : 'month',
    hasUtcDays: firstDay !== undefined || length > LONGEST_BY_HOUR_MS,
  })
}

function monthStart(timeMs: number, monthsOn: number): number {
  const time = new Date(timeMs)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsOn, 1)
}

function parseDay(text: unknown): number | undefined {
  const timeMs = typeof text === 'string' ? startOfDay(text, 'utc') : Number.NaN
  return Number.isFinite(timeMs) && timeMs >= 0 ? timeMs : undefined
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/

function parseMoment(text: unknown): number | undefined {
  const timeMs = typeof text === 'string' && MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(timeMs) && timeMs >= 0 ? timeMs : undefined
}

function between(fromMs: number, toMs: number): RangeChoice {
  return { range: 'custom', from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

function floorTo(lengthMs: number, timeMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs
}

function ceilTo(lengthMs: number, timeMs: number): number {
  return Math.ceil(timeMs / lengthMs) * lengthMs
}

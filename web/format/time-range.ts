/** Ranges of time that pages offer, and what each means now: from when to when, in which steps, and what came before. Knows no page. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const RANGE_NAMES = ['24h', '7d', '30d', 'month', 'custom'] as const
export type RangeName = (typeof RANGE_NAMES)[number]
export type StepLength = 'hour' | 'day' | 'month'

/** As it stands in an address. */
export interface RangeChoice {
  readonly range: RangeName
  /** Of `custom`: the first and the last day, both included, in UTC as all days of sums are: `2026-11-01`. */
  readonly from?: string
  readonly to?: string
}

export interface Period {
  /** Milliseconds since the Unix epoch, at the beginning of an hour. */
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
}

export interface ResolvedRange {
  readonly current: Period
  /** The same stretch, one range earlier. */
  readonly before: Period
  readonly step: StepLength
  /** Whether it reaches to now: only then can its figures still change. */
  readonly isOngoing: boolean
}

const DEFAULT: RangeChoice = { range: '7d' }
/** More steps than this are thinner than can be told apart. */
const MAX_DAY_STEPS = 100
const LONGEST_BY_HOUR_MS = 2 * DAY_MS
const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Whatever an address holds; what is no range becomes the default. */
export function parseRangeChoice(search: Readonly<Record<string, unknown>>): RangeChoice {
  const range = RANGE_NAMES.find((name) => name === search.range)
  if (range === undefined) return DEFAULT
  if (range !== 'custom') return { range }
  const from = parseDay(search.from)
  const to = parseDay(search.to)
  if (from === undefined || to === undefined || from > to) return DEFAULT
  return { range, from: toDay(from), to: toDay(to) }
}

/** The steps begin where those of the sums do: on the hour, or at midnight UTC. */
export function resolveRange(choice: RangeChoice, nowMs: number): ResolvedRange {
  const nextHour = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  switch (choice.range) {
    case '24h':
      return ongoing({ fromMs: nextHour - DAY_MS, toMs: nextHour }, DAY_MS, 'hour')
    case '7d':
      return ongoing({ fromMs: nextHour - 7 * DAY_MS, toMs: nextHour }, 7 * DAY_MS, 'hour')
    case '30d':
      return ongoing({ fromMs: today - 29 * DAY_MS, toMs: nextHour }, 30 * DAY_MS, 'day')
    case 'month':
      return resolveMonth(nowMs, nextHour)
    case 'custom':
      return resolveCustom(choice, nextHour)
  }
}

export function toDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

/** Where each step of a period begins. */
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

function ongoing(current: Period, shiftMs: number, step: StepLength): ResolvedRange {
  return {
    current,
    before: { fromMs: current.fromMs - shiftMs, toMs: current.toMs - shiftMs },
    step,
    isOngoing: true,
  }
}

/** Compared with as much of the month before: the 5th at noon with the 5th at noon. */
function resolveMonth(nowMs: number, nextHour: number): ResolvedRange {
  const fromMs = monthStart(nowMs, 0)
  const beforeFromMs = monthStart(nowMs, -1)
  const length = nextHour - fromMs
  return {
    current: { fromMs, toMs: nextHour },
    before: { fromMs: beforeFromMs, toMs: Math.min(beforeFromMs + length, fromMs) },
    step: length <= LONGEST_BY_HOUR_MS ? 'hour' : 'day',
    isOngoing: true,
  }
}

function resolveCustom(choice: RangeChoice, nextHour: number): ResolvedRange {
  const fromMs = parseDay(choice.from) ?? 0
  const endMs = (parseDay(choice.to) ?? 0) + DAY_MS
  const length = endMs - fromMs
  return {
    current: { fromMs, toMs: endMs },
    before: { fromMs: Math.max(0, fromMs - length), toMs: fromMs },
    step:
      length <= LONGEST_BY_HOUR_MS ? 'hour' : length <= MAX_DAY_STEPS * DAY_MS ? 'day' : 'month',
    isOngoing: endMs >= nextHour,
  }
}

function monthStart(timeMs: number, monthsOn: number): number {
  const time = new Date(timeMs)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsOn, 1)
}

function parseDay(text: unknown): number | undefined {
  if (typeof text !== 'string' || !DAY_PATTERN.test(text)) return undefined
  const timeMs = Date.parse(text)
  return Number.isFinite(timeMs) && timeMs >= 0 ? timeMs : undefined
}

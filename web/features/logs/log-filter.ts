import { CALL_OUTCOMES } from '../../../src/contract/words.ts'
import type { QuestionOf, RowOf } from '../../api/ask.ts'

export type Log = RowOf<'GET /v1/logs'>

/** In place of a gate's id when the call named no existing gate. No gate can have this id. */
export const NO_GATE = '(unknown)'

type ListQuestion = NonNullable<QuestionOf<'GET /v1/logs'>[0]>
export type LogQuery = Omit<NonNullable<ListQuestion['query']>, 'limit' | 'cursor'>

export const RANGES = {
  '15m': { label: 'Last 15 min', ms: 900_000 },
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '24h': { label: 'Last 24 h', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 604_800_000 },
  '30d': { label: 'Last 30 days', ms: 2_592_000_000 },
} as const

export type Range = keyof typeof RANGES

export type Outcome = (typeof CALL_OUTCOMES)[number]

export interface LogSearch {
  /** A range until now; not together with `from` and `to`. */
  readonly range?: Range
  readonly from?: string
  readonly to?: string
  readonly gate?: string
  readonly key?: string
  readonly target?: string
  readonly targetPart?: string
  readonly outcome?: Outcome
  readonly status?: string
  readonly errorKind?: string
  /** The code of the gateway's own refusal, or `any`. */
  readonly refused?: string
  readonly stream?: boolean
  readonly user?: string
  readonly session?: string
  readonly agent?: string
  readonly tag?: string
  /** Milliseconds with an exclusive end, like the cells of the heat map. */
  readonly durationFromMs?: number
  readonly durationToMs?: number
  readonly firstByteFromMs?: number
  readonly firstByteToMs?: number
}

export type FilterName = keyof LogSearch

const STATUS = /^[1-5](?:xx|[0-9]{2})$/
const NAME = /^[\x20-\x7e]{1,300}$/
const CALLER = /^[^\p{Cc}]{1,300}$/u
const ERROR_KIND = /^[a-z_]{1,50}$/

/** Whether the text may be a name. The gateway would refuse other texts, so they are not sent. */
export function canBeName(text: string): boolean {
  return NAME.test(text)
}

export function readLogSearch(search: Readonly<Record<string, unknown>>): LogSearch {
  const text = (name: FilterName, pattern: RegExp): string | undefined => {
    const value = search[name]
    // The router parses `gate=12` as a number.
    const written = typeof value === 'number' ? String(value) : value
    return typeof written === 'string' && pattern.test(written) ? written : undefined
  }
  const range = Object.keys(RANGES).find((name): name is Range => name === search.range)
  const from = range === undefined ? readTime(search.from) : undefined
  const to = range === undefined ? readTime(search.to) : undefined
  const isForwards = from === undefined || to === undefined || from < to
  return omitAbsent({
    range,
    from: isForwards ? from : undefined,
    to: isForwards ? to : undefined,
    gate: text('gate', NAME),
    key: text('key', NAME),
    target: text('target', NAME),
    targetPart: text('targetPart', NAME),
    outcome: CALL_OUTCOMES.find((outcome) => outcome === search.outcome),
    status: text('status', STATUS),
    errorKind: text('errorKind', ERROR_KIND),
    refused: text('refused', ERROR_KIND),
    stream: readBoolean(search.stream),
    user: text('user', CALLER),
    session: text('session', CALLER),
    agent: text('agent', CALLER),
    tag: text('tag', CALLER),
    ...readLengths(search.durationFromMs, search.durationToMs, ['durationFromMs', 'durationToMs']),
    ...readLengths(search.firstByteFromMs, search.firstByteToMs, [
      'firstByteFromMs',
      'firstByteToMs',
    ]),
  })
}

const MINUTE_MS = 60_000

/** @param nowMs the end of a relative range; the beginning is rounded down to the minute */
export function toLogQuery(search: LogSearch, nowMs: number): LogQuery {
  const { range, from, to, status, ...rest } = search
  const begin =
    range === undefined
      ? from
      : new Date(Math.floor((nowMs - RANGES[range].ms) / MINUTE_MS) * MINUTE_MS).toISOString()
  const isClass = status?.endsWith('xx') === true
  return omitAbsent({
    ...rest,
    from: begin,
    to,
    statusClass: isClass ? (status as LogQuery['statusClass']) : undefined,
    status: status === undefined || isClass ? undefined : Number(status),
  })
}

export function isFiltered(search: LogSearch): boolean {
  return Object.keys(search).length > 0
}

export function without(search: LogSearch, ...names: readonly FilterName[]): LogSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([name]) => !names.includes(name as FilterName)),
  )
}

function readTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const time = Date.parse(value)
  return Number.isFinite(time) && time >= 0 ? new Date(time).toISOString() : undefined
}

function readLengths<Name extends string>(
  from: unknown,
  to: unknown,
  [fromName, toName]: readonly [Name, Name],
): Partial<Record<Name, number>> {
  const [begin, end] = [readLength(from), readLength(to)]
  if (begin !== undefined && end !== undefined && begin >= end) return {}
  return omitAbsent({ [fromName]: begin, [toName]: end } as Partial<Record<Name, number>>)
}

function readLength(value: unknown): number | undefined {
  const isText = typeof value === 'string' || typeof value === 'number'
  return isText && /^\d{1,10}$/.test(String(value)) ? Number(value) : undefined
}

function readBoolean(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : undefined
}

function omitAbsent<Entries extends object>(entries: Entries): Entries {
  return Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== undefined),
  ) as Entries
}

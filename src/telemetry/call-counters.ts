import { isBudgetId } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import type { Usage } from '../core/usage.ts'
import type { AttemptRecord, CallObserver, Refusal } from '../gateway/call-observer.ts'
import type { TagLabels } from './tag-labels.ts'

/** Per metric; further gates or targets count under `other`. */
const MAX_SERIES = 2_000
/** A histogram needs a line per bound, plus three. */
const MAX_HISTOGRAMS = 500

const NONE = 'none'

export interface Count {
  readonly labels: readonly string[]
  count: number
}

export interface TokenCounts {
  readonly labels: readonly string[]
  readonly used: { input: number; output: number; cached: number; reasoning: number }
}

export interface Times {
  readonly labels: readonly string[]
  readonly seconds: SecondsHistogram
}

const toCount = (labels: readonly string[]): Count => ({ labels, count: 0 })
const toTokenCounts = (labels: readonly string[]): TokenCounts => ({
  labels,
  used: { input: 0, output: 0, cached: 0, reasoning: 0 },
})
const toTimes = (labels: readonly string[]): Times => ({ labels, seconds: new SecondsHistogram() })

export class CallCounters implements CallObserver {
  /** Labels: target, dialect, outcome, error kind, class of status. */
  readonly calls = new SeriesTable(MAX_SERIES, toCount)
  /** Labels: gate, outcome. */
  readonly gateCalls = new SeriesTable(MAX_SERIES, toCount)
  /** Label: gate. */
  readonly fallbacks = new SeriesTable(MAX_SERIES, toCount)
  /** Labels: target, class of status. */
  readonly attempts = new SeriesTable(MAX_SERIES, toCount)
  /** Labels: target, request member. */
  readonly refusedMembers = new SeriesTable(MAX_SERIES, toCount)
  /** Label: target. */
  readonly tokens = new SeriesTable(MAX_SERIES / 4, toTokenCounts)
  /** Labels: value, tag, outcome. */
  readonly tagCalls = new SeriesTable(MAX_SERIES, toCount)
  /** Labels: value, tag. */
  readonly tagTokens = new SeriesTable(MAX_SERIES / 4, toTokenCounts)
  /** Labels: value, tag. In billionths of a US dollar. */
  readonly tagCosts = new SeriesTable(MAX_SERIES, toCount)
  /** Labels: target, outcome. */
  readonly durations = new SeriesTable(MAX_HISTOGRAMS, toTimes)
  /** Label: target. */
  readonly firstBytes = new SeriesTable(MAX_HISTOGRAMS, toTimes)
  /** Error kind → how often a limit refused a call. */
  readonly limitsRefused = new Map<string, number>()

  /** Numbers of calls by the budgets' effect on them. */
  readonly budgetActions = new Map<string, number>()

  /** Label: code. */
  readonly refused = new SeriesTable(MAX_SERIES, toCount)

  readonly #tagLabels: TagLabels | undefined

  /** @param tagLabels undefined: no tag becomes a label */
  constructor(tagLabels?: TagLabels) {
    this.#tagLabels = tagLabels
  }

  /** Running calls are counted where they begin and end. */
  begin(): undefined {}

  finish(record: CallRecord, attempts: readonly AttemptRecord[]): void {
    const { dialect, outcome, errorKind, usage, firstByteMs, gateId } = record
    const target = record.target ?? NONE
    this.calls.of(target, dialect, outcome, errorKind ?? NONE, classOf(record.status)).count += 1
    this.gateCalls.of(gateId, outcome).count += 1
    this.durations.of(target, outcome).seconds.addMs(record.durationMs)
    if (firstByteMs !== null) this.firstBytes.of(target).seconds.addMs(firstByteMs)
    if (usage !== null && record.target !== null) addTokens(this.tokens.of(target), usage)
    if (this.#tagLabels !== undefined) this.#addTags(this.#tagLabels, record)
    this.#noteLimit(errorKind)
    this.#noteRefusal(record.refusalCode)
    this.#noteBudget(record.refusedBy, record.steeredBy)
    for (const [index, attempt] of attempts.entries()) {
      this.attempts.of(attempt.target, classOf(attempt.status)).count += 1
      const { target: asked, refusedMember } = attempt
      if (refusedMember !== undefined) this.refusedMembers.of(asked, refusedMember).count += 1
      if (index > 0 && attempts[index - 1]?.target !== attempt.target)
        this.fallbacks.of(gateId).count += 1
    }
  }

  refuse({ dialect, kind, status, refusalCode, refusedBy }: Refusal): void {
    this.calls.of(NONE, dialect, 'refused', kind, classOf(status)).count += 1
    this.#noteLimit(kind)
    this.#noteRefusal(refusalCode)
    this.#noteBudget(refusedBy)
  }

  #addTags(labels: TagLabels, { accountId, tags, outcome, usage, cost }: CallRecord): void {
    if (tags === undefined) return
    for (const { tag, value } of labels.of(accountId, tags)) {
      this.tagCalls.of(value, tag, outcome).count += 1
      if (usage !== null) addTokens(this.tagTokens.of(value, tag), usage)
      this.tagCosts.of(value, tag).count += cost?.nanoUsd ?? 0
    }
  }

  #noteRefusal(code: string | undefined): void {
    if (code !== undefined) this.refused.of(code).count += 1
  }

  #noteBudget(refusedBy: string | undefined, steeredBy?: string): void {
    const action = isBudgetId(refusedBy) ? 'refused' : steeredBy?.split('; ')[1]
    if (action === undefined) return
    this.budgetActions.set(action, (this.budgetActions.get(action) ?? 0) + 1)
  }

  #noteLimit(kind: string | null): void {
    if (kind !== 'rate_limited' && kind !== 'quota_exceeded') return
    this.limitsRefused.set(kind, (this.limitsRefused.get(kind) ?? 0) + 1)
  }
}

/** Ignores invalid counts, as in the ledger, because a provider may report anything. */
function addTokens({ used }: TokenCounts, usage: Usage): void {
  used.input += toTokens(usage.inputTokens)
  used.output += toTokens(usage.outputTokens)
  used.cached += toTokens(usage.cachedInputTokens)
  used.reasoning += toTokens(usage.reasoningTokens)
}

function toTokens(reported: number): number {
  return Number.isSafeInteger(reported) && reported > 0 ? reported : 0
}

/** `2xx` for 204; `none` for a target that sent no status. */
function classOf(status: number | null): string {
  return status === null ? NONE : (CLASSES[Math.trunc(status / 100)] ?? NONE)
}

const CLASSES = [NONE, '1xx', '2xx', '3xx', '4xx', '5xx']

// Counters by label, in plain memory and bounded, because customers name the labels.

const OTHER = 'other'

export class SeriesTable<Series> {
  readonly #series = new Map<string, Series>()
  readonly #maxSeries: number
  readonly #create: (labels: readonly string[]) => Series

  constructor(maxSeries: number, create: (labels: readonly string[]) => Series) {
    this.#maxSeries = maxSeries
    this.#create = create
  }

  of(bounded: string, ...rest: readonly string[]): Series {
    const key = keyOf(bounded, rest)
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (this.#series.size < this.#maxSeries) return this.#add(key, [bounded, ...rest])
    const otherKey = keyOf(OTHER, rest)
    return this.#series.get(otherKey) ?? this.#add(otherKey, [OTHER, ...rest])
  }

  values(): IterableIterator<Series> {
    return this.#series.values()
  }

  #add(key: string, labels: readonly string[]): Series {
    const series = this.#create(labels)
    this.#series.set(key, series)
    return series
  }
}

function keyOf(bounded: string, rest: readonly string[]): string {
  switch (rest.length) {
    case 0:
      return bounded
    case 1:
      return `${bounded}\n${rest[0]}`
    default:
      return `${bounded}\n${rest.join('\n')}`
  }
}

/** Seconds: from a cached answer to a model that thinks for minutes. */
export const SECONDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
] as const

export class SecondsHistogram {
  /** By upper bound, not cumulative; the last count is for values above all bounds. */
  readonly counts = new Float64Array(SECONDS.length + 1)
  sum = 0
  count = 0

  addMs(ms: number): void {
    const seconds = ms / 1000
    let index = 0
    while (index < SECONDS.length && seconds > (SECONDS[index] ?? 0)) index += 1
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += seconds
    this.count += 1
  }
}

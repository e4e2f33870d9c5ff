/**
 * The usage of a call, in the gateway's own terms. Each dialect's folder in wire/ does the
 * conversion.
 */
import type { ServedAs } from './cost.ts'

/**
 * Token counts as the provider reported them. `inputTokens` includes cached tokens, `outputTokens`
 * includes reasoning. The optional members are absent when not reported.
 */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  /** The part of `inputTokens` that was written to the provider's cache. */
  readonly cacheWriteTokens?: number
  /**
   * The part of `cacheWriteTokens` cached for an hour or longer, at a higher price. Not stored:
   * only a completed call's cost reflects this number.
   */
  readonly cacheWriteHourTokens?: number
  readonly audio?: AudioTokens
  readonly served?: ServedAs
  /** Set when a reported part exceeded its whole and was reduced, so the cost is an estimate. */
  readonly hasCutParts?: true
  readonly billing?: Billing
}

export interface AudioTokens {
  /** Includes cached tokens. */
  readonly input: number
  readonly cachedInput: number
  readonly output: number
}

/** Facts in an answer that decide the price besides the tokens. */
export interface Billing {
  readonly cost?: ReportedCost
  /** Set when several models answered; their tokens add up to the answer's. */
  readonly attempts?: readonly BilledAttempt[]
  /** True if the provider may charge less than the tokens' price. */
  readonly isUnsure?: true
}

export type CostForm = 'usage.cost' | 'usage.cost.total_cost' | 'usage.cost_in_usd_ticks'

export interface ReportedCost {
  readonly form: CostForm
  /** US dollars. Undefined: the reported cost is implausible. */
  readonly usd: number | undefined
  /** True if the provider reports only a part of its charge. */
  readonly isPartial: boolean
}

export interface BilledAttempt {
  /** The model's name at the provider. Undefined: the requested model. */
  readonly model: string | undefined
  readonly usage: Usage
}

export function isCount(value: unknown): value is number {
  // Text has no -0, so a row must not have -0 either.
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0)
}

/**
 * Maximum tokens of a call, above any real number. A customer's own model may report any number,
 * and the sums of all calls must fit into the store's 63 bits.
 */
export const MAX_TOKENS_OF_CALL = 1_000_000_000

/**
 * Implausible usage counts as unreported, and a part that exceeds its whole is reduced.
 * @returns the report itself when nothing changes, which is nearly always
 */
export function toTrueUsage(reported: Usage | null | undefined): Usage | null {
  if (reported === null || reported === undefined) return null
  if (isTrue(reported)) return cutParts(reported)
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, cacheWriteTokens } =
    reported
  const usage = {
    inputTokens: withoutMinus(inputTokens),
    outputTokens: withoutMinus(outputTokens),
    cachedInputTokens: withoutMinus(cachedInputTokens),
    reasoningTokens: withoutMinus(reasoningTokens),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens: withoutMinus(cacheWriteTokens) }),
    ...(reported.served === undefined ? {} : { served: reported.served }),
    ...(reported.audio === undefined ? {} : { audio: reported.audio }),
    ...(reported.billing === undefined ? {} : { billing: reported.billing }),
    ...(reported.hasCutParts === undefined ? {} : { hasCutParts: reported.hasCutParts }),
  }
  return isTrue(usage) ? cutParts(usage) : null
}

function cutParts(usage: Usage): Usage {
  const { inputTokens, outputTokens, audio } = usage
  const cachedInputTokens = Math.min(usage.cachedInputTokens, inputTokens)
  const reasoningTokens = Math.min(usage.reasoningTokens, outputTokens)
  const { cacheWriteTokens = 0 } = usage
  const written = Math.min(cacheWriteTokens, inputTokens - cachedInputTokens)
  if (
    cachedInputTokens === usage.cachedInputTokens &&
    reasoningTokens === usage.reasoningTokens &&
    written === cacheWriteTokens &&
    (audio === undefined || isWithin(audio, usage))
  )
    return usage
  return {
    ...usage,
    cachedInputTokens,
    reasoningTokens,
    ...(usage.cacheWriteTokens === undefined ? {} : { cacheWriteTokens: written }),
    ...(audio === undefined ? {} : { audio: cutAudio(audio, usage) }),
    hasCutParts: true,
  }
}

function isWithin(audio: AudioTokens, { inputTokens, outputTokens }: Usage): boolean {
  return (
    audio.input <= inputTokens && audio.cachedInput <= audio.input && audio.output <= outputTokens
  )
}

function cutAudio(audio: AudioTokens, { inputTokens, outputTokens }: Usage): AudioTokens {
  const input = Math.min(audio.input, inputTokens)
  return {
    input,
    cachedInput: Math.min(audio.cachedInput, input),
    output: Math.min(audio.output, outputTokens),
  }
}

function isTrue(usage: Usage): boolean {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, cacheWriteTokens } = usage
  return (
    isPlausible(inputTokens) &&
    isPlausible(outputTokens) &&
    isPlausible(cachedInputTokens) &&
    isPlausible(reasoningTokens) &&
    (cacheWriteTokens === undefined || isPlausible(cacheWriteTokens))
  )
}

function isPlausible(tokens: number): boolean {
  return isCount(tokens) && tokens <= MAX_TOKENS_OF_CALL
}

/** JSON can spell -0. */
function withoutMinus(count: number): number {
  return count === 0 ? 0 : count
}

/** The steps of usage sums. `all`: one step for the whole range. */
export const USAGE_INTERVALS = ['hour', 'day', 'month', 'all'] as const
export type UsageInterval = (typeof USAGE_INTERVALS)[number]

/**
 * `status`: by class. `credential`: the account's own, or the platform's. `model` and `provider`
 * are the parts of `target`.
 */
export const USAGE_GROUPS = [
  'gate',
  'target',
  'key',
  'status',
  'credential',
  'model',
  'provider',
  'user',
  'session',
  'agent',
  'tag',
] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** The measure that ranks groups, greatest first. `name`: by id, ascending. */
export const GROUP_ORDERS = ['calls', 'errors', 'tokens', 'cost', 'name'] as const
export type GroupOrder = (typeof GROUP_ORDERS)[number]

/** The measure that ranks sessions, greatest first. `last`: the start of the latest call. */
export const SESSION_ORDERS = ['last', 'cost', 'calls', 'tokens'] as const
export type SessionOrder = (typeof SESSION_ORDERS)[number]

export const CALL_OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const

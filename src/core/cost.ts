/** Tools that a provider runs and charges for per use, in the gateway's own terms. */
export const COUNTED_TOOLS = [
  'webSearch',
  'fileSearch',
  'codeInterpreter',
  'imageGeneration',
] as const

export type CountedTool = (typeof COUNTED_TOOLS)[number]

/** `otherTool`: no answer reports uses, so a call that offers such a tool counts as one use. */
export const TOOL_KINDS = [...COUNTED_TOOLS, 'otherTool'] as const

export type ToolKind = (typeof TOOL_KINDS)[number]

/** A missing kind was not used. */
export type ToolUses = { readonly [Kind in ToolKind]?: number }

/** US dollars per million uses; a missing kind has no known fee. */
export type ToolFees = { readonly [Kind in ToolKind]?: number }

export const NO_USES: ToolUses = {}

/**
 * Maximum uses of a call, above any real number. An upstream may report any number, and the sums of
 * all calls must fit into the store's 63 bits.
 */
export const MAX_USES_OF_CALL = 100_000

/**
 * `exact`: the target's own price and reported usage. `estimated`: the price of a similar model, or
 * partly estimated usage. `unknown`: no price, or no reported usage; never a guess.
 */
export const COST_STATUSES = ['exact', 'estimated', 'unknown'] as const
export type CostStatus = (typeof COST_STATUSES)[number]

export interface Cost {
  /** Billionths of a US dollar; null: unknown. */
  readonly nanoUsd: number | null
  readonly status: CostStatus
  /**
   * The source of the price, for recomputing the cost: a price table's name and version, or
   * `owned-model`. Factors follow as `*priority:2`, then tool uses and special tokens as
   * `+webSearch:3@10000`: the count, and US dollars per million.
   */
  readonly source: string | null
}

export const UNKNOWN_COST: Cost = { nanoUsd: null, status: 'unknown', source: null }

export const NOTHING_SENT: Cost = { nanoUsd: 0, status: 'exact', source: 'not-sent' }

export const FREE_COST: Cost = { nanoUsd: 0, status: 'exact', source: 'free' }

export const COST_PART_KINDS = [
  'input',
  'cachedInput',
  'cacheWrite',
  /** The difference between the prices for an hour and for minutes. */
  'cacheWriteHour',
  /** The difference between the prices of audio and of text, as in the next two kinds. */
  'inputAudio',
  'cachedInputAudio',
  'outputAudio',
  'output',
  'reasoning',
  'request',
  ...TOOL_KINDS,
] as const
export type CostPartKind = (typeof COST_PART_KINDS)[number]

/** One count at one price. A call's parts add up to its cost before rounding. */
export interface CostPart {
  readonly kind: CostPartKind
  readonly count: number
  /** US dollars per million. */
  readonly usdPerMillion: number
}

export const USES_IN_SOURCE = /\+([a-zA-Z]+):(\d+)@(\d+(?:\.\d+)?)/g

/** The provider's words in lower case. An absent member was not reported. */
export interface ServedAs {
  /** `standard`: the usual tier, whatever the provider's word. */
  readonly tier?: string
  readonly speed?: string
  /** `global`: no region was chosen. */
  readonly region?: string
}

export type OtherPrice = keyof ServedAs | 'media'

export const USUAL: Required<ServedAs> = { tier: 'standard', speed: 'standard', region: 'global' }

type FactorKind = keyof ServedAs | 'address'

/**
 * The first entry with matching `value` and `models` applies. An address without a match has the
 * list price.
 */
export interface PriceFactor {
  readonly kind: FactorKind
  readonly value: RegExp
  /** Matches the model's name. Undefined: every model. */
  readonly models?: RegExp
  /** Undefined: the provider publishes no factor, so the cost is an estimate. */
  readonly factor?: number
}

/** Whole days at the price of one hour, which a price table by the time of day cannot express. */
export interface FlatDays {
  readonly models: RegExp
  /** Milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Days of the week in the time zone; 0 is Sunday. */
  readonly weekdays: readonly number[]
  readonly utcOffsetHours: number
  /** The hour, in UTC, whose price applies all day. */
  readonly atUtcHour: number
}

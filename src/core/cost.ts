/** The cost of a call. Knows no price. */

/**
 * Counts of tools that a provider runs and charges for per use, in the gateway's own terms. Knows
 * no dialect and no fee.
 */
export const COUNTED_TOOLS = [
  'webSearch',
  'fileSearch',
  'codeInterpreter',
  'imageGeneration',
] as const

/** A kind whose uses answers report, in the dialects that report any. */
export type CountedTool = (typeof COUNTED_TOOLS)[number]

/** `otherTool`: no answer reports its uses, so a call that offers such tools counts as one use. */
export const TOOL_KINDS = [...COUNTED_TOOLS, 'otherTool'] as const

export type ToolKind = (typeof TOOL_KINDS)[number]

/** A missing kind was not used. */
export type ToolUses = { readonly [Kind in ToolKind]?: number }

/** US dollars per million uses; a missing kind has no known fee. */
export type ToolFees = { readonly [Kind in ToolKind]?: number }

export const NO_USES: ToolUses = {}

/**
 * More uses than any call has. An upstream may report any number, and the sums of all calls must
 * fit into the store's 63 bits.
 */
export const MAX_USES_OF_CALL = 100_000

/**
 * `exact`: the target's own price for this model, and reported usage. `estimated`: the price of a
 * similar model, or partly unknown or estimated usage, as after a disconnect. `unknown`: no price,
 * or no reported usage; never a guess.
 */
export const COST_STATUSES = ['exact', 'estimated', 'unknown'] as const
export type CostStatus = (typeof COST_STATUSES)[number]

export interface Cost {
  /** Billionths of a US dollar; null when unknown. */
  readonly nanoUsd: number | null
  readonly status: CostStatus
  /**
   * The source of the price, for recomputing the cost: a price table's name and version, or
   * `owned-model`. Followed by `*priority:2` for each factor, then by `+webSearch:3@10000` for each
   * kind of tool use, or of tokens that rows do not distinguish: the count, and US dollars per
   * million.
   */
  readonly source: string | null
}

export const UNKNOWN_COST: Cost = { nanoUsd: null, status: 'unknown', source: null }

/** The cost of a call that had a target but sent nothing to it. */
export const NOTHING_SENT: Cost = { nanoUsd: 0, status: 'exact', source: 'not-sent' }

/** The cost of a call that is not charged. */
export const FREE_COST: Cost = { nanoUsd: 0, status: 'exact', source: 'free' }

/** What is counted: tokens of a kind, the request itself, or uses of a provider's tool. */
export const COST_PART_KINDS = [
  'input',
  'cachedInput',
  'cacheWrite',
  /** The difference between the prices for an hour and for minutes. */
  'cacheWriteHour',
  /** The difference between the prices of audio and of text, as are the next two. */
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

/** Tool uses and similar parts, as appended to a cost's source. */
export const USES_IN_SOURCE = /\+([a-zA-Z]+):(\d+)@(\d+(?:\.\d+)?)/g

/** The provider's words in lower case. An absent member was not reported. */
export interface ServedAs {
  /** `standard`: the usual tier, whatever the provider calls it. */
  readonly tier?: string
  readonly speed?: string
  /** `global`: no region was chosen. */
  readonly region?: string
}

/** Options of a request that change its price. */
export type OtherPrice = keyof ServedAs | 'media'

/** The values at list price. */
export const USUAL: Required<ServedAs> = { tier: 'standard', speed: 'standard', region: 'global' }

/** A factor depends on a reported value, or on the base address. */
type FactorKind = keyof ServedAs | 'address'

/**
 * Of the entries of one kind whose `value` matches, the first with matching `models` applies. An
 * address without a match has the list price.
 */
export interface PriceFactor {
  readonly kind: FactorKind
  /** Matches the reported word, or the base address. */
  readonly value: RegExp
  /** Matches the model's name. Undefined: every model. */
  readonly models?: RegExp
  /** Undefined: not published, so the cost is estimated. */
  readonly factor?: number
}

/** The cost of a call. Knows no price. */

/**
 * How often a call used tools that a vendor runs and charges for by the use, in the gateway's own
 * terms. Knows no dialect and no fee.
 */
export const COUNTED_TOOLS = [
  'webSearch',
  'fileSearch',
  'codeInterpreter',
  'imageGeneration',
] as const

/** A kind whose uses an answer shows, in the dialects that show any. */
export type CountedTool = (typeof COUNTED_TOOLS)[number]

/** `otherTool`: no answer shows its uses, so a call that offers such tools has one use of them. */
export const TOOL_KINDS = [...COUNTED_TOOLS, 'otherTool'] as const

export type ToolKind = (typeof TOOL_KINDS)[number]

/** A kind that is absent was not used. */
export type ToolUses = { readonly [Kind in ToolKind]?: number }

/** US dollars for a million uses; a kind that is absent has no known fee. */
export type ToolFees = { readonly [Kind in ToolKind]?: number }

export const NO_USES: ToolUses = {}

/**
 * More uses than any call has. An upstream may report or send what it likes, and the sums of all
 * calls must fit into the store's 63 bits.
 */
export const MAX_USES_OF_CALL = 100_000

/**
 * `exact`: the target's own price for this model and what it reported. `estimated`: the price of a
 * model like it, or a part of the usage unknown or estimated, as after a hang-up. `unknown`: no
 * price, or nothing reported; never a guess.
 */
export const COST_STATUSES = ['exact', 'estimated', 'unknown'] as const
export type CostStatus = (typeof COST_STATUSES)[number]

export interface Cost {
  /** Billionths of a US dollar; null when unknown. */
  readonly nanoUsd: number | null
  readonly status: CostStatus
  /**
   * The source of the price, so that it can be computed again: a price table's name and version, or
   * `owned-model`; behind it `*priority:2` for each multiple of that price; behind those `+webSearch:3@10000` for each kind of a tool's uses, and of tokens
   * that rows do not tell apart: their number and what a million of them costs in US dollars.
   */
  readonly source: string | null
}

export const UNKNOWN_COST: Cost = { nanoUsd: null, status: 'unknown', source: null }

/** The cost of a call that had a target and sent nothing to it. */
export const NOTHING_SENT: Cost = { nanoUsd: 0, status: 'exact', source: 'not-sent' }

/** Nothing is charged for such a call. */
export const FREE_COST: Cost = { nanoUsd: 0, status: 'exact', source: 'free' }

/** The thing that is counted: tokens of a kind, the request itself, or uses of a vendor's tool. */
export const COST_PART_KINDS = [
  'input',
  'cachedInput',
  'cacheWrite',
  /** The difference between the price of an hour and that of minutes. */
  'cacheWriteHour',
  /** The difference between the price of audio and that of text; so are the next two. */
  'inputAudio',
  'cachedInputAudio',
  'outputAudio',
  'output',
  'reasoning',
  'request',
  ...TOOL_KINDS,
] as const
export type CostPartKind = (typeof COST_PART_KINDS)[number]

/** One count at one price. A call's parts add up to its cost, before that is rounded. */
export interface CostPart {
  readonly kind: CostPartKind
  readonly count: number
  /** US dollars for a million. */
  readonly usdPerMillion: number
}

/** Uses of a kind of tool and the like, as they stand behind a cost's source. */
export const USES_IN_SOURCE = /\+([a-zA-Z]+):(\d+)@(\d+(?:\.\d+)?)/g

/** In the vendor's words, in lower case. A member that is absent was not reported. */
export interface ServedAs {
  /** `standard`: the usual tier, whatever the vendor calls it. */
  readonly tier?: string
  readonly speed?: string
  /** `global`: no region was chosen. */
  readonly region?: string
}

/** Ways in which a request can ask for another price than the list's. */
export type OtherPrice = keyof ServedAs | 'media'

/** The values that have the list's price. */
export const USUAL: Required<ServedAs> = { tier: 'standard', speed: 'standard', region: 'global' }

/** How a multiple is chosen: by what the answer reports, or by the address that was asked. */
type FactorKind = keyof ServedAs | 'address'

/**
 * Of the entries of one kind whose `value` matches, the first whose `models` match counts. An
 * address that no entry matches has the list's price.
 */
export interface PriceFactor {
  readonly kind: FactorKind
  /** Matches the reported word, or the base address. */
  readonly value: RegExp
  /** Matches the model's name. Absent: every model. */
  readonly models?: RegExp
  /** Absent: not published, so the cost is estimated. */
  readonly factor?: number
}

/** The cost of a call. Knows no price. */
import { TOOL_KINDS } from './tool-uses.ts'

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

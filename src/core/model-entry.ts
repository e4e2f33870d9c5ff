/**
 * An entry of the operator's price overlay (`models` in the configuration file), and the price of
 * models without an entry. Plain data: knows no provider and computes no cost.
 */
import type { ModelFacts } from './model-facts.ts'
import type { RuleOverrides } from './request-rules.ts'

/** US dollars per million tokens. */
export const TOKEN_PRICES = [
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'inputAudio',
  'outputAudio',
  'outputImage',
] as const

export type PriceMember = (typeof TOKEN_PRICES)[number] | 'perRequest'

/** An absent price equals the price of the wider kind: `cachedInput` costs as much as `input`. */
export type EntryPrices = {
  /** `perRequest`: US dollars per request. */
  readonly [Member in PriceMember]?: number | undefined
}

/** Prices of calls with more than `inputTokens`. An absent price stays the usual price. */
export interface PricesAbove extends EntryPrices {
  readonly inputTokens: number
}

export interface DatedPrices extends EntryPrices {
  /** A date or time in ISO 8601, in UTC. Undefined: always. */
  readonly from?: string | undefined
  /** Prices of long calls, with ascending `inputTokens`. */
  readonly above?: readonly PricesAbove[] | undefined
  /** Prices by the tier that the answer reports. An absent price stays the usual price. */
  readonly tiers?: Readonly<Record<string, EntryPrices>> | undefined
}

export interface ModelEntry {
  /** `provider/model`, or the beginning of such names and `*`. */
  readonly model: string
  /** The `provider/model` that provides absent prices, facts and rules. */
  readonly like?: string | undefined
  /** The prices with the latest `from` before a call apply. */
  readonly prices?: readonly DatedPrices[] | undefined
  readonly facts?: ModelFacts | undefined
  /** Rules for requests to the model, in place of the provider's rules. */
  readonly takes?: RuleOverrides | undefined
  /** The date from which the provider no longer serves the model, such as `2027-03-01`. */
  readonly retiresOn?: string | undefined
}

/** The kind of tokens of a call whose model has no known price. */
export type UnpricedKind = 'text' | 'embedding'

/** US dollars per million tokens, for models without a known price. */
export interface UnpricedPrice {
  readonly input: number
  readonly output: number
  /** Input of embedding calls. */
  readonly embedding: number
}

/** Claude's own gateway charges unknown models these prices of input and output (2026-11). */
export const DEFAULT_UNPRICED_PRICE: UnpricedPrice = { input: 5, output: 25, embedding: 0.2 }

/** Models of providers, with the facts and prices that are known. */
import type { ModelFacts } from './model-facts.ts'

/** Prices are in US dollars per million tokens, at the first step of length, if known. */
export interface KnownModel {
  readonly id: string
  readonly name: string | undefined
  readonly contextTokens: number | undefined
  readonly inputUsdPerMillion: number | undefined
  readonly outputUsdPerMillion: number | undefined
  readonly cachedInputUsdPerMillion?: number | undefined
}

/** Prices are as in `KnownModel`. An undefined member is not known. */
export interface ModelDetails {
  readonly inputUsdPerMillion: number | undefined
  readonly cachedInputUsdPerMillion: number | undefined
  readonly outputUsdPerMillion: number | undefined
  /** As in a cost. Undefined: no price is known. */
  readonly priceSource: string | undefined
  /** The date of the operator's price, if the entry gives one. */
  readonly priceFrom: string | undefined
  readonly isPriceEstimated: boolean
  readonly isAlias: boolean
  readonly retiresOn: string | undefined
  readonly facts: ModelFacts | undefined
}

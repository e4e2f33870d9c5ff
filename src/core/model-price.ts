/** A price of a model that the operator stored at run time, for all accounts. */
import type { AccountId } from './ids.ts'
import type { DatedPrices, ModelEntry } from './model-entry.ts'

/** The prices of an entry of the configuration file. */
export interface StoredPrices {
  readonly like?: string | undefined
  readonly prices?: readonly DatedPrices[] | undefined
}

export interface ModelPrice extends StoredPrices {
  /** The operator's account. */
  readonly accountId: AccountId
  /** `provider/model`. */
  readonly model: string
  readonly createdAt: number
  readonly updatedAt: number
}

export function toEntry({ model, like, prices }: ModelPrice): ModelEntry {
  return { model, like, prices }
}

export function toPublicModelPrice({ model, like, prices, createdAt, updatedAt }: ModelPrice) {
  return {
    model,
    like: like ?? null,
    prices: prices ?? null,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

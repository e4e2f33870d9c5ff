import type { CallRecord } from '../core/call.ts'
import type { CallBatch } from '../core/call-batch.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import type { PriceBook } from './price-book.ts'

export class PricedCalls implements CallBatch {
  readonly #prices: Pick<PriceBook, 'costOf'>
  readonly #calls: CallBatch
  readonly #onFailure: (error: unknown) => void
  #hasFailed = false

  constructor(
    prices: Pick<PriceBook, 'costOf'>,
    calls: CallBatch,
    onFailure: (error: unknown) => void,
  ) {
    this.#prices = prices
    this.#calls = calls
    this.#onFailure = onFailure
  }

  get length(): number {
    return this.#calls.length
  }

  accountOf(index: number): AccountId {
    return this.#calls.accountOf(index)
  }

  idOf(index: number): CallId {
    return this.#calls.idOf(index)
  }

  read(index: number): CallRecord {
    const call = this.#calls.read(index)
    if (call.cost !== undefined) return call
    try {
      return { ...call, cost: this.#prices.costOf({ ...call, isEstimated: call.isUsageEstimated }) }
    } catch (error) {
      if (!this.#hasFailed) this.#onFailure(error)
      this.#hasFailed = true
      return call
    }
  }
}

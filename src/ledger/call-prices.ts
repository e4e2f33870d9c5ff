/** Prices calls when they end. A call that cannot be priced still ends normally. */
import type { Cost, ToolKind } from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { PriceQuery, Prices } from '../gateway/ports.ts'
import type { CallToPrice } from './call-to-price.ts'
import type { PriceBook } from './price-book.ts'

export class CallPrices implements Prices {
  readonly #book: PriceBook
  #held: { readonly book: PriceBook; readonly prices: CallPrices } | undefined

  constructor(book: PriceBook) {
    this.#book = book
  }

  get inForce(): CallPrices {
    const { inForce: book } = this.#book
    if (this.#held?.book !== book) this.#held = { book, prices: new CallPrices(book) }
    return this.#held.prices
  }

  load(): void {
    tryPrices(() => this.#book.load())
  }

  priceOf(call: CallToPrice): Cost | undefined {
    try {
      return this.#book.costOf(call)
    } catch {
      // Repeats the body of `tryPrices`, because a callback would be allocated for each call.
      return undefined
    }
  }

  feesOf(target: string, tools: readonly ToolKind[]): number {
    return this.#book.feesOf(target, tools)
  }

  isPriced(accountId: AccountId, target: string, asked: PriceQuery): boolean {
    return tryPrices(() => this.#book.isPriced(accountId, target, asked)) ?? false
  }
}

function tryPrices<Result>(ask: () => Result): Result | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}

/** The port by which calls get their prices as they end. Must not fail a call. */
import type { Cost, ToolKind } from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { AskedPrice, Prices } from '../gateway/ports.ts'
import type { PriceBook, PricedCall } from './price-book.ts'

/** Prices calls as they end: a call that cannot be priced ends all the same. */
export class CallPrices implements Prices {
  readonly #book: PriceBook

  constructor(book: PriceBook) {
    this.#book = book
  }

  /** Loads the table ahead of the first call that needs it. */
  load(): void {
    tryPrices(() => this.#book.load())
  }

  priceOf(call: PricedCall): Cost | undefined {
    try {
      return this.#book.costOf(call)
    } catch {
      // As `tryPrices` says; a function to pass on would be made for each call.
      return undefined
    }
  }

  feesOf(target: string, tools: readonly ToolKind[]): number {
    return this.#book.feesOf(target, tools)
  }

  isPriced(accountId: AccountId, target: string, asked: AskedPrice): boolean {
    return tryPrices(() => this.#book.isPriced(accountId, target, asked)) ?? false
  }
}

/**
 * A table that does not load is reported with the next calls that are stored.
 * @returns undefined then
 */
function tryPrices<Result>(ask: () => Result): Result | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}

/** Prices calls on their way into the store: off the hot path, and late enough to load the price table in peace. */
import type { CallRecord } from '../core/call.ts'
import type { PriceBook, PricedCall } from './price-book.ts'

/** A call as the price book asks for it. */
export function toPricedCall(
  record: Pick<CallRecord, 'accountId' | 'target' | 'usage' | 'startedAt' | 'outcome'>,
): PricedCall {
  const { accountId, target, usage, startedAt, outcome } = record
  return { accountId, target, usage, at: startedAt, outcome }
}

/**
 * The records with their costs. What cannot be priced must not keep calls out of the store: its cost stays unknown, can be
 * computed later, and `onFailure` is told.
 */
export function priceRecords(
  prices: Pick<PriceBook, 'costOf'>,
  records: readonly CallRecord[],
  onFailure: (error: unknown) => void,
): CallRecord[] {
  let failure: { readonly error: unknown } | undefined
  const priced = records.map((record) => {
    try {
      return { ...record, cost: prices.costOf(toPricedCall(record)) }
    } catch (error) {
      failure ??= { error }
      return record
    }
  })
  if (failure !== undefined) onFailure(failure.error)
  return priced
}

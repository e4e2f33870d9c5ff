/**
 * Prices calls on their way into the store that have no price yet: off the hot path, with time to
 * load the price table.
 */
import type { CallRecord } from '../core/call.ts'
import type { PriceBook } from './price-book.ts'

/**
 * The records with their costs: those that were priced as they ended keep theirs, which was counted
 * against quotas. A call that cannot be priced goes into the store all the same: its cost stays
 * unknown, can be computed later, and `onFailure` hears of it.
 */
export function priceRecords(
  prices: Pick<PriceBook, 'costOf'>,
  records: readonly CallRecord[],
  onFailure: (error: unknown) => void,
): readonly CallRecord[] {
  if (records.every((record) => record.cost !== undefined)) return records
  let failure: { readonly error: unknown } | undefined
  const priced = records.map((record) => {
    if (record.cost !== undefined) return record
    try {
      return { ...record, cost: prices.costOf(record) }
    } catch (error) {
      failure ??= { error }
      return record
    }
  })
  if (failure !== undefined) onFailure(failure.error)
  return priced
}

/** Published multiples of a model's list price. Knows no vendor. */
import type { ServedAs } from './served-as.ts'

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

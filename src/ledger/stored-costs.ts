/** Recomputes and explains costs that are stored in rows, as far as their prices are still known. */
import { type Cost, type CostPart, FREE_COST, NOTHING_SENT } from '../core/cost.ts'
import type { Usage } from '../core/usage.ts'
import { REPORTED, UNPRICED, withGuessedUsage } from './billed-price.ts'
import type { AsServed, CallToPrice } from './call-to-price.ts'
import {
  costOfDeclared,
  parseDeclaredSource,
  partsOfOwned,
  splitUses,
  withUses,
} from './cost-parts.ts'
import { type ServedPrice, splitFactors } from './served-price.ts'

interface Book {
  /** The name and version of the price table. */
  readonly source: string
  costOf(call: CallToPrice & AsServed): Cost
  partsAsServed(
    call: CallToPrice,
    usage: Usage,
    servedAs: ServedPrice,
  ): readonly CostPart[] | undefined
}

/**
 * Recomputes the cost of an earlier call. Prices declared then stay: of owned models, of providers,
 * and of entries that are in force no more, unless the entry is wrong.
 * @param wrong sources of costs, such as `overlay:7d89ce077233`
 * @returns undefined when the cost stays, because its price cannot be found or must not change
 */
export function recompute(
  book: Book,
  call: CallToPrice,
  stored: Cost | undefined,
  wrong: readonly string[] = [],
): Cost | undefined {
  if (stored === undefined) return recomputeTokens(book, call, stored)
  const { cost, uses } = splitUses(stored)
  const computed = recomputeTokens(book, call, cost) ?? reprice(book, call, cost, wrong)
  if (computed === undefined) return undefined
  const whole = withUses(computed, uses)
  const isSame = isSameAmount(whole.nanoUsd, stored.nanoUsd)
  // The price of an equal cost may have moved to another version of the table, or into an entry.
  const isSamePrice = whole.status === stored.status && wasPriced(stored) && !isEstimate(stored)
  if (isSame && isSamePrice) return stored
  return isSame ? { ...whole, nanoUsd: stored.nanoUsd } : whole
}

function wasPriced({ source }: Cost): boolean {
  return source !== null
}

function isEstimate({ source }: Cost): boolean {
  return source?.startsWith(UNPRICED) === true
}

/** The cost at today's source of the price, where the table's or a wrong price was used. */
function reprice(
  book: Book,
  call: CallToPrice,
  stored: Cost,
  wrong: readonly string[],
): Cost | undefined {
  const { cost, price } = splitFactors(stored)
  const source = cost.source ?? ''
  // The sum of several targets or models cannot be divided.
  if (source.includes('+')) return undefined
  const [table] = book.source.split('@', 1)
  if (!source.startsWith(`${table}@`) && !wrong.includes(source)) return undefined
  const now = book.costOf({ ...call, as: price, isEstimated: isUsageEstimated(call, stored) })
  return now.nanoUsd === null ? undefined : now
}

function recomputeTokens(
  book: Book,
  call: CallToPrice,
  stored: Cost | undefined,
): Cost | undefined {
  if (stored?.source === NOTHING_SENT.source) return stored
  const declared = stored?.source == null ? undefined : parseDeclaredSource(stored.source)
  if (declared !== undefined) {
    const { usage, outcome } = call
    const cost = costOfDeclared(declared.by, declared.prices, { usage, outcome })
    return isUsageEstimated(call, stored) ? withGuessedUsage(cost) : cost
  }
  // Calls of a free dialect stay free, even at a provider that charges for other calls.
  if (call.usage === null && stored?.source === FREE_COST.source) return stored
  const as = stored?.source == null ? undefined : splitFactors(stored).price
  const now = book.costOf({ ...call, as, isEstimated: isUsageEstimated(call, stored) })
  if (stored?.source === UNPRICED) return now.nanoUsd === null ? stored : now
  const wasPriced = stored !== undefined && stored.source !== null
  return wasPriced && now.source !== stored.source ? undefined : now
}

/**
 * Whether the cost is an estimate at any price. Rows of earlier versions do not say why a cost is
 * an estimate, so their estimates stay estimates.
 */
function isUsageEstimated(call: CallToPrice, stored: Cost | undefined): boolean {
  return call.isUsageEstimated ?? stored?.status === 'estimated'
}

export function partsOf(
  book: Book,
  call: CallToPrice,
  stored: Cost | undefined,
): readonly CostPart[] | undefined {
  if (stored === undefined || stored.nanoUsd === null) return undefined
  const { cost, uses } = splitUses(stored)
  if (cost.nanoUsd === null) return uses
  const parts = partsOfTokens(book, call, cost)
  return parts === undefined || uses.length === 0 ? parts : [...parts, ...uses]
}

function partsOfTokens(
  book: Book,
  call: CallToPrice,
  stored: Cost,
): readonly CostPart[] | undefined {
  if (stored.source === REPORTED) return []
  const computed = recomputeTokens(book, call, stored)
  if (computed === undefined || !isSameAmount(computed.nanoUsd, stored.nanoUsd)) return undefined
  if (stored.source === FREE_COST.source || stored.source === NOTHING_SENT.source) return []
  const declared = stored.source === null ? undefined : parseDeclaredSource(stored.source)
  if (call.usage === null) return declared === undefined ? undefined : []
  if (declared !== undefined) return partsOfOwned(declared.prices, call.usage)
  return book.partsAsServed(call, call.usage, splitFactors(stored).price)
}

/** Earlier versions rounded costs to millionths of a dollar. */
const MICRO_IN_NANO_USD = 1_000

function isSameAmount(computed: number | null, stored: number | null): boolean {
  if (computed === null || stored === null || computed === stored) return computed === stored
  const isWholeMicros = stored % MICRO_IN_NANO_USD === 0
  return isWholeMicros && Math.abs(computed - stored) <= MICRO_IN_NANO_USD / 2
}

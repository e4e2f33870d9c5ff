/**
 * What pricing needs to know about a target: its provider's way of pricing, its model, fees and
 * factors.
 */
import type { PriceFactor, ToolFees } from '../core/cost.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { CostReports } from './billed-price.ts'
import type { ListedPrice } from './price-table.ts'
import { priceAtAddress, type ServedPrice } from './served-price.ts'

/**
 * How a provider's calls are priced, by its name in the table or not at all, and which of its
 * models are known.
 */
export type ProviderPricing =
  | ({
      readonly type: 'listed'
      readonly name: string
      readonly models?: RegExp | undefined
      /** Models that charge for more than the table lists. */
      readonly inPart?: RegExp | undefined
      /** Multiples of the table's prices. */
      readonly factors?: readonly PriceFactor[] | undefined
      /** Base address. Undefined: factors by address do not apply. */
      readonly address?: string | undefined
      /** Undefined: the provider reports no costs. */
      readonly reports?: CostReports | undefined
    } & Fees)
  | { readonly type: 'free'; readonly models?: readonly string[] }
  /** By model name; `*` applies to every other model. */
  | ({ readonly type: 'declared'; readonly prices: ReadonlyMap<string, UsdPrices> } & Fees)

interface Fees {
  readonly toolFees?: ToolFees | undefined
  /** Estimates for tools without a known fee. Undefined: uses without a known fee cost nothing. */
  readonly usualToolFees?: ToolFees | undefined
}

/** US dollars per million tokens. */
export interface UsdPrices {
  readonly input: number
  readonly output: number
  /** Undefined: the price of other input. */
  readonly cachedInput?: number | undefined
}

export interface PricedUses {
  readonly toolFees: ToolFees
  readonly usualToolFees: ToolFees
}

export interface Listed extends PricedUses {
  readonly type: 'listed'
  readonly provider: string
  readonly model: string
  /** Whether the model charges for more than the table lists. */
  readonly isInPart: boolean
  readonly factors: readonly PriceFactor[]
  readonly atAddress: ServedPrice
  readonly reports: CostReports | undefined
  /** Assumed when the table does not list the model. */
  readonly unlisted: DeclaredPrices | undefined
  minute: number
  price: ListedPrice | undefined
}

export interface Declared extends PricedUses {
  readonly type: 'declared'
  readonly prices: DeclaredPrices
}

/** What is the same for every call to a target. */
export type KnownTarget =
  | { readonly type: 'free' }
  | { readonly type: 'unknown' }
  | { readonly type: 'owned'; readonly model: string }
  | Declared
  | Listed

const OWNED = 'owned'
/** Stands for every model of a provider without a price under its own name. */
export const ANY_MODEL = '*'
const NO_FEES: ToolFees = {}
const NO_FACTORS: readonly PriceFactor[] = []

export function lookUp(
  target: string,
  providers: ReadonlyMap<string, ProviderPricing>,
): KnownTarget {
  const slash = target.indexOf('/')
  const providerId = target.slice(0, slash)
  const model = target.slice(slash + 1)
  const pricing = providers.get(providerId)
  if (pricing?.type === 'free') return pricing
  if (providerId === OWNED) return { type: 'owned', model }
  if (pricing === undefined) return { type: 'unknown' }
  const { toolFees = NO_FEES, usualToolFees = NO_FEES } = pricing
  const fees = { toolFees, usualToolFees }
  if (pricing.type === 'declared') {
    const prices = pricing.prices.get(model) ?? pricing.prices.get(ANY_MODEL)
    return prices === undefined
      ? { type: 'unknown' }
      : { type: 'declared', prices: toCents(prices), ...fees }
  }
  const { name: provider, inPart, factors = NO_FACTORS, address, reports } = pricing
  const isInPart = inPart?.test(model) === true
  const atAddress = priceAtAddress({ factors, model }, address)
  const unlisted = reports === undefined ? undefined : toCents(reports.unlisted)
  const price = { minute: Number.NaN, price: undefined, reports, unlisted }
  return { type: 'listed', provider, model, isInPart, factors, atAddress, ...fees, ...price }
}

/** Rounded to a millionth of a cent, so that a source contains no binary fraction. */
function toCents({ input, output, cachedInput = input }: UsdPrices): DeclaredPrices {
  const cents = (usd: number) => Math.round(usd * 1e8) / 1e6
  return { input: cents(input), output: cents(output), cachedInput: cents(cachedInput) }
}

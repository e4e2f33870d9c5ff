import type { FlatDays, PriceFactor, ToolFees } from '../core/cost.ts'
import type { ModelOverlay } from '../core/model-overlay.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { CostReports } from './billed-price.ts'
import { EntryPricing, givesPrices, type OutsidePrices } from './entry-price.ts'
import type { KnownPrice } from './price-table.ts'
import { LIST_PRICE, priceAtAddress, type ServedPrice } from './served-price.ts'

export type ProviderPricing =
  | ({
      readonly type: 'listed'
      readonly name: string
      readonly models?: RegExp | undefined
      readonly inPart?: RegExp | undefined
      readonly factors?: readonly PriceFactor[] | undefined
      /** Base address. Undefined: factors by address do not apply. */
      readonly address?: string | undefined
      readonly isSelfHosted?: boolean | undefined
      readonly flatDays?: FlatDays | undefined
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
  /** Undefined: the table does not have the provider. */
  readonly provider: string | undefined
  readonly model: string
  readonly isInPart: boolean
  readonly factors: readonly PriceFactor[]
  readonly atAddress: ServedPrice
  readonly flatDays: FlatDays | undefined
  readonly reports: CostReports | undefined
  /** Assumed when the table does not list the model. */
  readonly unlisted: DeclaredPrices | undefined
  readonly entry: EntryPricing | undefined
  /**
   * Prices the target while no price of the entry is in force. Undefined when the price table prices
   * the target then.
   */
  readonly otherwise: KnownTarget | undefined
  minute: number
  price: KnownPrice | undefined
}

export interface Declared extends PricedUses {
  readonly type: 'declared'
  readonly prices: DeclaredPrices
  readonly isByName: boolean
}

export type KnownTarget =
  | { readonly type: 'free' }
  | { readonly type: 'unknown' }
  | { readonly type: 'owned'; readonly model: string }
  | Declared
  | Listed

const OWNED = 'owned'
/** Matches every model of a provider without a price under its own name. */
export const ANY_MODEL = '*'
const NO_FEES: ToolFees = {}
const NO_FACTORS: readonly PriceFactor[] = []

interface OverlayPricing {
  readonly overlay: ModelOverlay
  readonly outside: OutsidePrices
}

/** Looks up a target's prices. The operator's entry takes precedence, if the entry has prices. */
export function lookUpOverlaid(
  target: string,
  providers: ReadonlyMap<string, ProviderPricing>,
  { overlay, outside }: OverlayPricing,
): KnownTarget {
  const known = lookUp(target, providers)
  const found = overlay.find(target)
  if (found === undefined || known.type === 'owned' || !givesPrices(found)) return known
  // A provider's price for this model's name is more specific than an entry for a pattern, so the
  // provider's price applies.
  const isByName = overlay.named(target) !== undefined
  if (known.type === 'declared' && known.isByName && !isByName) return known
  const entry = new EntryPricing(overlay, target, outside)
  if (known.type === 'listed') return { ...known, entry }
  const { toolFees = NO_FEES, usualToolFees = NO_FEES } = feesOf(target, providers)
  return {
    ...{ type: 'listed', provider: undefined, model: target.slice(target.indexOf('/') + 1) },
    ...{ isInPart: false, factors: NO_FACTORS, atAddress: LIST_PRICE, toolFees, usualToolFees },
    ...{ reports: undefined, unlisted: undefined, flatDays: undefined, entry, otherwise: known },
    ...{ minute: Number.NaN, price: undefined },
  }
}

function feesOf(target: string, providers: ReadonlyMap<string, ProviderPricing>): Fees {
  const pricing = providers.get(target.slice(0, target.indexOf('/')))
  return pricing === undefined || pricing.type === 'free' ? {} : pricing
}

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
    const isByName = pricing.prices.has(model)
    const prices = pricing.prices.get(model) ?? pricing.prices.get(ANY_MODEL)
    return prices === undefined
      ? { type: 'unknown' }
      : { type: 'declared', prices: toCents(prices), isByName, ...fees }
  }
  const { name: provider, inPart, factors = NO_FACTORS, address, reports, flatDays } = pricing
  const isInPart = inPart?.test(model) === true
  const atAddress = priceAtAddress({ factors, model }, address)
  const unlisted = reports === undefined ? undefined : toCents(reports.unlisted)
  const none = { entry: undefined, otherwise: undefined, flatDays }
  const price = { minute: Number.NaN, price: undefined, reports, unlisted, ...none }
  return { type: 'listed', provider, model, isInPart, factors, atAddress, ...fees, ...price }
}

function toCents({ input, output, cachedInput = input }: UsdPrices): DeclaredPrices {
  const cents = (usd: number) => Math.round(usd * 1e8) / 1e6
  return { input: cents(input), output: cents(output), cachedInput: cents(cachedInput) }
}

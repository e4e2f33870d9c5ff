/**
 * Whether a model has a price outside the overlay, for `like`. Loads the price package, so call
 * this only for names without an entry.
 */
import type * as GenaiPrices from '@pydantic/genai-prices'
import { type Provider, pricingOf } from '../providers/define.ts'

export function isListedModel(provider: Provider, model: string): boolean {
  const pricing = pricingOf(provider)
  if (pricing.type === 'free') return true
  if (pricing.type === 'declared') return pricing.prices.has(model) || pricing.prices.has('*')
  // `require`, because the package's ES module is slower to load, as in ledger/price-table.ts.
  const { calcPrice } = require('@pydantic/genai-prices') as typeof GenaiPrices
  return calcPrice({}, model, { providerId: pricing.name }) !== null
}

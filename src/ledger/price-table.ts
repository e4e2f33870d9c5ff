/**
 * The price data of `@pydantic/genai-prices`, which is embedded in the package: nothing is fetched. Finds a model's price;
 * must not know calls. Loading takes some 20 ms and 20 MB, so it waits until a price is needed.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as GenaiPrices from '@pydantic/genai-prices'
import type { MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices'

const PACKAGE = '@pydantic/genai-prices'

export interface ListedPrice {
  readonly prices: ModelPrice
  /** The price is this model's own, not that of its family. */
  readonly isOwn: boolean
}

export interface PriceTable {
  /** Its name and version. */
  readonly source: string
  /**
   * @param provider as the table names it
   * @param at milliseconds since the Unix epoch: prices change, some by the time of day
   */
  find(provider: string, model: string, at: number): ListedPrice | undefined
}

/** @throws when the package is not installed */
export function loadPriceTable(): PriceTable {
  const require = createRequire(import.meta.url)
  // Not import(): the package's module for that is twice as large and takes three times as long.
  const { calcPrice }: typeof GenaiPrices = require(PACKAGE)
  const described: unknown = JSON.parse(
    readFileSync(join(dirname(require.resolve(PACKAGE)), '..', 'package.json'), 'utf8'),
  )
  const { version } = described as { readonly version: string }
  return {
    source: `genai-prices@${version}`,
    find(provider, model, at) {
      const found = calcPrice({}, model, { providerId: provider, timestamp: new Date(at) })
      if (found === null) return undefined
      // A price that the table borrows from another provider is not this one's own.
      const isOwn = found.provider.models.includes(found.model) && isOwnPrice(found.model, model)
      return { prices: found.model_price, isOwn }
    },
  }
}

/** A name that differs from the listed one by its date, version or region only is the same model at the same price. */
function isOwnPrice(model: ModelInfo, name: string): boolean {
  const wanted = toBareName(name)
  return [model.id, ...listNames(model.match)].some((listed) => toBareName(listed) === wanted)
}

/** The names in a rule, of the kinds that mean one model. */
function listNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listNames)
  if ('equals' in match) return [match.equals]
  if ('starts_with' in match) return [match.starts_with]
  return 'contains' in match ? [match.contains] : []
}

const REGION = /^(?:global|regional|us|us-gov|eu|apac|au|jp|ca|sa|me|af)\.(?=[a-z])/
const VERSION = /(?:-v\d+)?(?::\d+)?$/
const DATE = /(?:[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest))$/

function toBareName(name: string): string {
  return name.toLowerCase().trim().replace(REGION, '').replace(VERSION, '').replace(DATE, '')
}

/**
 * The price data of `@pydantic/genai-prices`, embedded in the package. Loading takes about 20 ms
 * and 20 MB, so the first look-up of a price loads the data.
 */
import type * as GenaiPrices from '@pydantic/genai-prices'
import type { MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import { dependencies } from '../../package.json' with { type: 'json' }
import type { CostPartKind } from '../core/cost.ts'

export interface ListedPrice {
  /** The same object for all names of a model. */
  readonly prices: ModelPrice
  readonly isOwn: boolean
  /** The name may stand for another model than the listed one: an alias, or a retired name. */
  readonly isMoving?: boolean
}

export interface PricedKinds {
  readonly prices: ModelPrice
  /** Kinds that are priced like another model, so that their cost is an estimate. */
  readonly borrowed?: ReadonlySet<CostPartKind> | undefined
}

export interface KnownPrice extends ListedPrice, PricedKinds {
  readonly source: string
  /** All prices by the tier that an answer reports. */
  readonly tiers?: Readonly<Record<string, PricedKinds>> | undefined
}

export interface PriceTable {
  readonly source: string
  /**
   * @param provider its name in the table
   * @param at milliseconds since the Unix epoch: prices change, some by the time of day
   */
  find(provider: string, model: string, at: number): ListedPrice | undefined
  /** The listed context window, in tokens. */
  contextTokensOf(provider: string, model: string): number | undefined
  /**
   * The listed models of a provider without withdrawn models; takes a few milliseconds for the
   * largest provider.
   */
  models(provider: string, at: number): readonly ListedModel[]
}

export interface ListedModel {
  readonly id: string
  readonly name: string | undefined
  readonly contextTokens: number | undefined
  readonly prices: ModelPrice | undefined
}

export function loadPriceTable(): PriceTable {
  // `require`, because the package's ES module is twice as large and takes three times as long. The
  // name is a literal, so that a bundler finds the package.
  const { calcPrice, findProvider } = require('@pydantic/genai-prices') as typeof GenaiPrices
  return {
    // package.json pins the exact version, so the installed version is the version in this name.
    source: `genai-prices@${dependencies['@pydantic/genai-prices']}`,
    find(provider, model, at) {
      const found = calcPrice({}, model, { providerId: provider, timestamp: new Date(at) })
      if (found === null) return undefined
      // A price that the table borrows from another provider is not the provider's own.
      const isOwn = found.provider.models.includes(found.model) && isOwnPrice(found.model, model)
      const isMoving = found.model.deprecated === true || isAlias(model)
      return { prices: found.model_price, isOwn, isMoving }
    },
    contextTokensOf: (provider, model) =>
      calcPrice({}, model, { providerId: provider })?.model.context_window,
    models(provider, at) {
      const listed = findProvider({ providerId: provider })?.models ?? []
      const priceNow = (model: ModelInfo) =>
        Array.isArray(model.prices)
          ? calcPrice({}, model.id, { providerId: provider, timestamp: new Date(at) })?.model_price
          : model.prices
      return listed
        .filter((model) => model.deprecated !== true)
        .map((model) => ({
          id: model.id,
          name: model.name,
          contextTokens: model.context_window,
          prices: priceNow(model),
        }))
    },
  }
}

/**
 * A name that differs from the listed name only by date, version or region is the same model at the
 * same price.
 */
function isOwnPrice(model: ModelInfo, name: string): boolean {
  const wanted = toBareName(name)
  return [model.id, ...listNames(model.match)].some((listed) => toBareName(listed) === wanted)
}

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

/** A name with `-latest`, or without any version: vendors point it at another model from time to time. */
export function isAlias(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return name.endsWith('-latest') || !/\d/.test(name)
}

/** `-0709`, `-001`, `-03-2025`: other forms of a version's date or number. */
const SNAPSHOT = /^[-@:](?:\d{3,4}|\d{2}-\d{4}|\d{2}-\d{2}-\d{4})$/

export function isNameOf(asked: string, answered: string): boolean {
  if (answered === asked) return true
  const wanted = toBareName(asked)
  const given = toBareName(answered)
  return given === wanted || (given.startsWith(wanted) && SNAPSHOT.test(given.slice(wanted.length)))
}

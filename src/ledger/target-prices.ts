/**
 * Finds the price of a target: in the operator's entries, in the prices of the operator's
 * providers, or in the table. Remembers what it found. Knows no call.
 */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { FlatDays } from '../core/cost.ts'
import type { KnownModel, ModelDetails } from '../core/known-model.ts'
import type { ModelEntry, UnpricedKind } from '../core/model-entry.ts'
import type { ModelFacts } from '../core/model-facts.ts'
import { type ModelOverlay, NO_OVERLAY } from '../core/model-overlay.ts'
import { rateOf } from './cost-parts.ts'
import { type OutsidePrices, OVERLAY, type UsedEntry } from './entry-price.ts'
import {
  ANY_MODEL,
  type KnownTarget,
  type Listed,
  lookUp,
  lookUpOverlaid,
  type ProviderPricing,
  type UsdPrices,
} from './known-target.ts'
import { familyOf } from './model-family.ts'
import { isAlias, type KnownPrice, loadPriceTable, type PriceTable } from './price-table.ts'

export interface TargetPricesOptions {
  /** By provider id; a missing provider is unknown. */
  readonly providers: ReadonlyMap<string, ProviderPricing>
  /** Of the configuration file. */
  readonly overlay?: ModelOverlay
  /** Prices for models without any other price. */
  readonly added?: readonly ModelEntry[]
  readonly onUsed?: (entry: UsedEntry) => void
  readonly loadTable?: () => PriceTable
}

/** Prices that depend on the time are looked up again each minute, the table's resolution. */
const PRICE_LIFE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FREE: FamilyPrice = { input: 0, output: 0 }
/** Customers name targets, so the number of remembered targets is bounded. */
const MAX_REMEMBERED = 5_000

const DECLARERS = {
  ...{ free: 'free', declared: 'configured' },
  ...{ owned: undefined, unknown: undefined },
} as const

/** The highest price of a family's models. */
interface FamilyPrice {
  readonly input: number
  readonly output: number
}

/** Immutable: a reload of the configuration file makes another one. */
export class TargetPrices {
  /** The entries of the configuration file, and stored prices of models without any other price. */
  readonly overlay: ModelOverlay
  readonly #options: TargetPricesOptions
  readonly #providers: ReadonlyMap<string, ProviderPricing>
  readonly #loaded: { table: PriceTable | undefined }
  readonly #outside: OutsidePrices
  readonly #fromFile: ModelOverlay
  readonly #remembered = new Map<string, KnownTarget>()
  /** By provider id. */
  readonly #families = new Map<
    string,
    {
      readonly day: number
      readonly models: ReadonlyMap<string, readonly KnownModel[]>
      readonly prices: Map<string, FamilyPrice>
    }
  >()

  constructor(
    options: TargetPricesOptions,
    loaded: { table: PriceTable | undefined } = { table: undefined },
  ) {
    this.#options = options
    this.#providers = options.providers
    this.#loaded = loaded
    const pricesOf = (target: string, at: number) => this.#findOutside(target, at)
    const sourceOf = () => this.table.source
    this.#outside = {
      find: pricesOf,
      get source() {
        return sourceOf()
      },
    }
    this.#fromFile = options.overlay ?? NO_OVERLAY
    this.overlay = this.#withAdded(options.added ?? [])
  }

  /** Prices of the same providers and table. */
  replaced(overlay: ModelOverlay, added: readonly ModelEntry[] = []): TargetPrices {
    return new TargetPrices({ ...this.#options, overlay, added }, this.#loaded)
  }

  get isLoaded(): boolean {
    return this.#loaded.table !== undefined
  }

  get table(): PriceTable {
    this.#loaded.table ??= (this.#options.loadTable ?? loadPriceTable)()
    return this.#loaded.table
  }

  get #overlaid(): { readonly overlay: ModelOverlay; readonly outside: OutsidePrices } {
    return { overlay: this.overlay, outside: this.#outside }
  }

  #withAdded(added: readonly ModelEntry[]): ModelOverlay {
    const now = Date.now()
    return this.#fromFile.withPrices(
      added.filter(({ model }) => this.sourceWithoutAdded(model, now) === undefined),
    )
  }

  /**
   * The source of the target's price in the configuration file or the price table. Undefined: both
   * have none. An entry of the file counts before its first date; the table's price of a similar
   * model does not count.
   */
  sourceWithoutAdded(target: string, at: number): string | undefined {
    const overlay = this.#fromFile
    const known = lookUpOverlaid(target, this.#providers, { overlay, outside: this.#outside })
    if (known.type === 'listed' && known.entry !== undefined) return OVERLAY + known.entry.used.hash
    const found = this.#describeOutside(target, at)
    return found?.isOwn === true && isUsable(found) ? found.source : undefined
  }

  /** @param at decides which dated prices are in force: the start of the call */
  find(target: string, at: number): KnownTarget {
    const known = this.recall(target)
    return known.type === 'listed' &&
      known.otherwise !== undefined &&
      this.priceOf(known, at) === undefined
      ? known.otherwise
      : known
  }

  /** Looked up once a minute: prices change, some by the time of day. */
  priceOf(known: Listed, at: number): KnownPrice | undefined {
    const minute = Math.floor(at / PRICE_LIFE_MS)
    if (known.minute !== minute) {
      known.price = this.#lookUpPrice(known, at)
      known.minute = minute
    }
    return known.price
  }

  #lookUpPrice({ entry, provider, model, flatDays }: Listed, at: number): KnownPrice | undefined {
    const given = entry?.priceAt(at)
    if (entry !== undefined && given !== undefined) {
      this.#options.onUsed?.(entry.used)
      return given
    }
    if (provider === undefined) return undefined
    const found = this.table.find(provider, model, flatTime(flatDays, model, at))
    return found && { ...found, source: this.table.source }
  }

  recall(target: string): KnownTarget {
    const known = this.#remembered.get(target)
    if (known !== undefined) return known
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    const found = lookUpOverlaid(target, this.#providers, this.#overlaid)
    this.#remembered.set(target, found)
    return found
  }

  #findOutside(target: string, at: number): ModelPrice | undefined {
    const known = lookUp(target, this.#providers)
    if (known.type === 'free') return { input_mtok: 0, output_mtok: 0 }
    if (known.type === 'declared') {
      const { input, output, cachedInput } = known.prices
      return {
        input_mtok: input / 100,
        output_mtok: output / 100,
        cache_read_mtok: cachedInput / 100,
      }
    }
    if (known.type !== 'listed' || known.provider === undefined) return undefined
    return this.table.find(known.provider, known.model, at)?.prices
  }

  /** The prices of an entry's model are those outside the entry: `describe` has the entry's. */
  modelsOf(providerId: string, at: number): readonly KnownModel[] {
    const outside = this.#modelsOutside(providerId, at)
    const known = new Set(outside.map(({ id }) => id))
    const added = this.overlay.modelsOf(providerId).filter((id) => !known.has(id))
    return [...outside, ...added.map((id) => ({ ...UNKNOWN_MODEL, id }))]
  }

  #modelsOutside(providerId: string, at: number): readonly KnownModel[] {
    const pricing = this.#providers.get(providerId)
    if (pricing === undefined) return []
    if (pricing.type === 'free') return (pricing.models ?? []).map(toFreeModel)
    if (pricing.type === 'declared')
      return [...pricing.prices].filter(([name]) => name !== ANY_MODEL).map(toDeclaredModel)
    return this.table
      .models(pricing.name, at)
      .filter(({ id }) => pricing.models?.test(id) ?? true)
      .map(({ prices, ...model }) => ({
        ...model,
        inputUsdPerMillion: rateOf(prices?.input_mtok, 0),
        outputUsdPerMillion: rateOf(prices?.output_mtok, 0),
        cachedInputUsdPerMillion: rateOf(prices?.cache_read_mtok, 0),
      }))
  }

  /**
   * The price of a target without a known one: the operator's, or the highest of the model's family
   * at its provider if that is higher. US dollars per million tokens.
   */
  unpricedPriceOf(target: string, at: number, kind: UnpricedKind): FamilyPrice {
    const slash = target.indexOf('/')
    const providerId = target.slice(0, slash)
    const pricing = this.#providers.get(providerId)
    const given = this.overlay.unpricedPrice
    const isSelfHosted = pricing?.type === 'listed' && pricing.isSelfHosted === true
    const least = isSelfHosted ? FREE : given
    const input = isSelfHosted || kind === 'text' ? least.input : given.embedding
    const family = this.#familyPriceOf(providerId, familyOf(target.slice(slash + 1)), at)
    return {
      input: Math.max(input, family?.input ?? 0),
      output: kind === 'embedding' ? 0 : Math.max(least.output, family?.output ?? 0),
    }
  }

  /** Once a day for each family; undefined without a known price. */
  #familyPriceOf(providerId: string, family: string, at: number): FamilyPrice | undefined {
    const day = Math.floor(at / DAY_MS)
    let families = this.#families.get(providerId)
    if (families?.day !== day) {
      families = { day, models: this.#groupByFamily(providerId, at), prices: new Map() }
      this.#families.set(providerId, families)
    }
    const held = families.prices.get(family)
    if (held !== undefined) return held
    const models = family === '' ? undefined : families.models.get(family)
    // Not remembered, because customers name models, and so families.
    if (models === undefined) return undefined
    let { input, output } = FREE
    for (const model of models) {
      const rates = this.#ratesOf(`${providerId}/${model.id}`, at)
      input = Math.max(input, rateOf(rates?.input_mtok, 0) ?? model.inputUsdPerMillion ?? 0)
      output = Math.max(output, rateOf(rates?.output_mtok, 0) ?? model.outputUsdPerMillion ?? 0)
    }
    families.prices.set(family, { input, output })
    return { input, output }
  }

  #groupByFamily(providerId: string, at: number): ReadonlyMap<string, readonly KnownModel[]> {
    return Map.groupBy(this.modelsOf(providerId, at), ({ id }) => familyOf(id))
  }

  #ratesOf(target: string, at: number): ModelPrice | undefined {
    if (this.overlay.named(target) === undefined) return undefined
    // Not remembered: the list must not displace the targets of calls.
    const known = lookUpOverlaid(target, this.#providers, this.#overlaid)
    return known.type === 'listed' ? known.entry?.ratesAt(at) : undefined
  }

  /**
   * Does not remember the target: lists must not displace the targets of calls.
   * @param listed the model of `modelsOf`, which saves two look-ups in the table
   */
  describe(target: string, at: number, listed?: KnownModel): ModelDetails {
    if (listed !== undefined && this.overlay.find(target) === undefined)
      return this.#describeListed(target, listed)
    const known = lookUpOverlaid(target, this.#providers, this.#overlaid)
    const entry = known.type === 'listed' ? known.entry : undefined
    const slash = target.indexOf('/')
    const providerId = target.slice(0, slash)
    const model = target.slice(slash + 1)
    const price = entry?.priceAt(at) ?? this.#describeOutside(target, at)
    const input = rateOf(price?.prices.input_mtok, 0)
    const output = rateOf(price?.prices.output_mtok, 0)
    const isPriced = price !== undefined && isUsable(price)
    return {
      inputUsdPerMillion: input,
      cachedInputUsdPerMillion: rateOf(price?.prices.cache_read_mtok, 0),
      outputUsdPerMillion: output,
      priceSource: isPriced ? price.source : undefined,
      priceFrom: entry?.fromAt(at),
      isPriceEstimated: isPriced && (!price.isOwn || price.borrowed !== undefined),
      isAlias: this.#providers.get(providerId)?.type === 'listed' && isAlias(model),
      retiresOn: this.overlay.find(target)?.retiresOn,
      facts: this.factsOf(providerId, model),
    }
  }

  #describeListed(target: string, { contextTokens, ...prices }: KnownModel): ModelDetails {
    const known = lookUp(target, this.#providers)
    const source = known.type === 'listed' ? this.table.source : DECLARERS[known.type]
    const isPriced =
      prices.inputUsdPerMillion !== undefined || prices.outputUsdPerMillion !== undefined
    return {
      inputUsdPerMillion: prices.inputUsdPerMillion,
      cachedInputUsdPerMillion: prices.cachedInputUsdPerMillion,
      outputUsdPerMillion: prices.outputUsdPerMillion,
      priceSource: isPriced ? source : undefined,
      priceFrom: undefined,
      isPriceEstimated: isPriced && known.type === 'listed' && known.isInPart,
      isAlias: known.type === 'listed' && isAlias(known.model),
      retiresOn: undefined,
      facts: contextTokens === undefined ? undefined : { contextTokens },
    }
  }

  #describeOutside(target: string, at: number): KnownPrice | undefined {
    const known = lookUp(target, this.#providers)
    if (known.type === 'free' || known.type === 'declared') {
      const prices = this.#findOutside(target, at) ?? {}
      return { prices, isOwn: true, source: DECLARERS[known.type] }
    }
    if (known.type !== 'listed' || known.provider === undefined) return undefined
    const found = this.table.find(known.provider, known.model, at)
    return found && { ...found, isOwn: found.isOwn && !known.isInPart, source: this.table.source }
  }

  /** The operator's facts, completed by the table's. May load the table. */
  factsOf(providerId: string, model: string): ModelFacts | undefined {
    return this.overlay.factsOf(`${providerId}/${model}`, (target) => {
      const slash = target.indexOf('/')
      const pricing = this.#providers.get(target.slice(0, slash))
      if (pricing?.type !== 'listed') return undefined
      const contextTokens = this.table.contextTokensOf(pricing.name, target.slice(slash + 1))
      return contextTokens === undefined ? undefined : { contextTokens }
    })
  }
}

function isUsable({ prices }: KnownPrice): boolean {
  return rateOf(prices.input_mtok, 0) !== undefined || rateOf(prices.output_mtok, 0) !== undefined
}

/** The time at which to look up the price for `at`: on flat-price days, a fixed hour of the day. */
function flatTime(days: FlatDays | undefined, model: string, at: number): number {
  if (days === undefined || at < days.fromMs || !days.models.test(model)) return at
  const weekday = new Date(at + days.utcOffsetHours * HOUR_MS).getUTCDay()
  return days.weekdays.includes(weekday)
    ? Math.floor(at / DAY_MS) * DAY_MS + days.atUtcHour * HOUR_MS
    : at
}

const UNKNOWN_MODEL: Omit<KnownModel, 'id'> = {
  ...{ name: undefined, contextTokens: undefined },
  ...{ inputUsdPerMillion: undefined, outputUsdPerMillion: undefined },
}

function toFreeModel(id: string): KnownModel {
  return {
    id,
    name: undefined,
    contextTokens: undefined,
    inputUsdPerMillion: 0,
    outputUsdPerMillion: 0,
  }
}

function toDeclaredModel([id, prices]: readonly [string, UsdPrices]): KnownModel {
  const { input, output, cachedInput = input } = prices
  return {
    ...{ ...toFreeModel(id), inputUsdPerMillion: input, outputUsdPerMillion: output },
    cachedInputUsdPerMillion: cachedInput,
  }
}

/**
 * The cost of a call: its target's price times the usage that its provider reported. An unreported
 * count is never guessed.
 * `exact`: the provider's own cost report; or the model's own price, a complete report, and a known
 * factor for how the call was served. `estimated`: a family's price, a call that did not end
 * normally, tokens with an undetermined price, or tools that may have been used without being
 * counted. `unknown`: all other cases.
 */
import type { CallOutcome } from '../core/call.ts'
import {
  type Cost,
  type CostPart,
  FREE_COST,
  NO_USES,
  NOTHING_SENT,
  type OtherPrice,
  type ToolFees,
  type ToolKind,
  type ToolUses,
  UNKNOWN_COST,
} from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { ModelFacts } from '../core/model-facts.ts'
import { type ModelOverlay, NO_OVERLAY } from '../core/model-overlay.ts'
import { costOfParts } from '../core/money.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { BilledAttempt, Billing, Usage } from '../core/usage.ts'
import type { AskedPrice, KnownFacts } from '../gateway/ports.ts'
import { ANSWERED, asReported, REPORTED, sumAttempts, toEstimated } from './billed-price.ts'
import {
  costOfDeclared,
  isNothing,
  parseDeclaredSource,
  partsOfListed,
  partsOfOwned,
  partsOfUses,
  rateOf,
  splitUses,
  withUses,
} from './cost-parts.ts'
import {
  ANY_MODEL,
  type Declared,
  type KnownTarget,
  type Listed,
  lookUp,
  type PricedUses,
  type ProviderPricing,
  type UsdPrices,
} from './known-target.ts'
import { costOfListed } from './listed-cost.ts'
import { isNameOf, type ListedPrice, loadPriceTable, type PriceTable } from './price-table.ts'
import {
  isUnanswered,
  isUnusual,
  priceAsServed,
  type ServedPrice,
  scaleParts,
  splitFactors,
} from './served-price.ts'

export interface KnownModel {
  readonly id: string
  readonly name: string | undefined
  readonly contextTokens: number | undefined
  /** US dollars per million tokens, at the table's first tier; undefined: unknown. */
  readonly inputUsdPerMillion: number | undefined
  readonly outputUsdPerMillion: number | undefined
}

export interface PriceBookOptions {
  /** By provider id; a missing provider is unknown. */
  readonly providers: ReadonlyMap<string, ProviderPricing>
  /** Looks up an owned model's prices in memory. Undefined: the account has no such model. */
  readonly declaredPrices?: (accountId: AccountId, slug: string) => DeclaredPrices | undefined
  /** The operator's entries. */
  readonly overlay?: ModelOverlay
  readonly loadTable?: () => PriceTable
}

export interface PricedCall {
  readonly accountId: AccountId
  /** `provider/model`; null: no upstream was asked. */
  readonly target: string | null
  readonly usage: Usage | null
  readonly startedAt: number
  /** Undefined: the call succeeded. */
  readonly outcome?: CallOutcome
  /** An owned model's prices at the time of the call. Undefined: use the current prices. */
  readonly ownedPrices?: DeclaredPrices | undefined
  readonly isEstimated?: boolean
  /** Options of the request that change the price. */
  readonly otherPrices?: readonly OtherPrice[]
  /** The model that answered, by its name at the upstream. Undefined: not reported. */
  readonly answeredBy?: string | undefined
  /** Tools that the provider was asked to run. */
  readonly tools?: readonly ToolKind[]
  /** How often the provider ran each tool. */
  readonly toolUses?: ToolUses | undefined
}

const NOTHING_ASKED_FOR: readonly OtherPrice[] = []
const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

/** Prices that depend on the time are looked up again each minute, the table's resolution. */
const PRICE_LIFE_MS = 60_000
/** Customers name targets, so the number of remembered targets is bounded. */
const MAX_REMEMBERED = 5_000

export class PriceBook implements KnownFacts {
  readonly #providers: ReadonlyMap<string, ProviderPricing>
  readonly #declaredPrices: NonNullable<PriceBookOptions['declaredPrices']>
  readonly #overlay: ModelOverlay
  readonly #loadTable: () => PriceTable
  #table: PriceTable | undefined
  readonly #remembered = new Map<string, KnownTarget>()

  constructor(options: PriceBookOptions) {
    this.#providers = options.providers
    this.#declaredPrices = options.declaredPrices ?? (() => undefined)
    this.#overlay = options.overlay ?? NO_OVERLAY
    this.#loadTable = options.loadTable ?? loadPriceTable
  }

  get source(): string {
    return this.#loaded().source
  }

  get isLoaded(): boolean {
    return this.#table !== undefined
  }

  /**
   * Loads the table, while no caller waits.
   * @throws when the package is not installed
   */
  load(): void {
    this.#loaded()
  }

  modelsOf(providerId: string, at: number): readonly KnownModel[] {
    const pricing = this.#providers.get(providerId)
    if (pricing === undefined) return []
    if (pricing.type === 'free') return (pricing.models ?? []).map(toFreeModel)
    if (pricing.type === 'declared')
      return [...pricing.prices].filter(([name]) => name !== ANY_MODEL).map(toDeclaredModel)
    return this.#loaded()
      .models(pricing.name, at)
      .filter(({ id }) => pricing.models?.test(id) ?? true)
      .map(({ prices, ...model }) => ({
        ...model,
        inputUsdPerMillion: rateOf(prices?.input_mtok, 0),
        outputUsdPerMillion: rateOf(prices?.output_mtok, 0),
      }))
  }

  /** The operator's facts, completed by the table's. May load the table. */
  factsOf(providerId: string, model: string): ModelFacts | undefined {
    return this.#overlay.factsOf(`${providerId}/${model}`, (target) => {
      const slash = target.indexOf('/')
      const pricing = this.#providers.get(target.slice(0, slash))
      if (pricing?.type !== 'listed') return undefined
      const contextTokens = this.#loaded().contextTokensOf(pricing.name, target.slice(slash + 1))
      return contextTokens === undefined ? undefined : { contextTokens }
    })
  }

  /**
   * Takes 0.1 µs for a known target; the first call of a listed provider loads the table (about 20
   * ms).
   */
  costOf(call: PricedCall & AsServed): Cost {
    const cost = this.#costOf(call)
    return call.isEstimated === true ? withGuessedUsage(cost) : cost
  }

  #costOf(call: PricedCall & AsServed): Cost {
    const { target, usage } = call
    if (target === null) return FREE_COST
    const known = this.#recall(target)
    if (known.type === 'free') return FREE_COST
    if (known.type === 'owned') {
      const declared = call.ownedPrices ?? this.#declaredPrices(call.accountId, known.model)
      if (declared === undefined) return UNKNOWN_COST
      const cost = costOfDeclared('owned-model', declared, { usage, outcome: call.outcome })
      return isNotAsDeclared(usage) ? withGuessedUsage(cost) : cost
    }
    if (known.type === 'unknown') return UNKNOWN_COST
    const cost = this.#costWithUses(known, call)
    return known.type === 'listed' ? asReported(known.reports, call, cost) : cost
  }

  #costWithUses(known: Listed | Declared, call: PricedCall & AsServed): Cost {
    const { usage } = call
    const cost = this.#costOfPriced(known, call)
    const { otherPrices = NOTHING_ASKED_FOR, tools, toolUses } = call
    // With several attempts, the answer reports how only the last attempt was served.
    const isOfSome = otherPrices.length > 0 && usage?.billing?.attempts !== undefined
    const isOther = isOfSome || isUnanswered(otherPrices, usage?.served)
    if (tools === undefined && toolUses === undefined) return isOther ? toEstimated(cost) : cost
    const uses = withUncounted(tools, toolUses)
    const isExact = !isOther && haveFees(known.toolFees, uses)
    return withUses(isExact ? cost : toEstimated(cost), partsOfUses(feesAt(known), uses))
  }

  #costOfPriced(known: Listed | Declared, call: PricedCall & AsServed): Cost {
    const { usage, outcome } = call
    if (known.type === 'declared') {
      const cost = costOfDeclared('configured', known.prices, { usage, outcome })
      return isNotAsDeclared(usage) ? withGuessedUsage(cost) : cost
    }
    if (usage === null) return UNKNOWN_COST
    const { attempts, isUnsure } = usage.billing ?? NO_BILLING
    const cost =
      attempts === undefined
        ? this.#costOfAnswer(known, call, usage)
        : this.#costOfAttempts(known, call, attempts)
    return isUnsure === true ? toEstimated(cost) : cost
  }

  /** Prices an answer by the model that answered, which may differ from the target's model. */
  #costOfAnswer(known: Listed, call: PricedCall & AsServed, usage: Usage): Cost {
    const { target, answeredBy, startedAt } = call
    if (answeredBy === undefined || isNameOf(known.model, answeredBy))
      return this.#costAt(known, call, usage)
    const other = this.#recallModel(target, answeredBy)
    const price = other === undefined ? undefined : this.#priceOf(other, startedAt)
    if (other === undefined || price === undefined)
      return toEstimated(this.#costAt(known, call, usage))
    if (price.prices === this.#priceOf(known, startedAt)?.prices)
      return this.#costAt(known, call, usage)
    const { nanoUsd, status, source } = this.#costAt(other, call, usage)
    const cost = { nanoUsd, status, source: `${source ?? ''}${ANSWERED}` }
    return known.isInPart ? toEstimated(cost) : cost
  }

  /**
   * Prices each attempt by its own model, or by the target's model if the attempt's model has no
   * price.
   */
  #costOfAttempts(
    known: Listed,
    call: PricedCall & AsServed,
    attempts: readonly BilledAttempt[],
  ): Cost {
    const costs = attempts.map(({ model, usage }) => {
      if (model === undefined) return { cost: this.#costAt(known, call, usage), isSure: true }
      const own = this.#recallModel(call.target, model)
      const cost = own === undefined ? UNKNOWN_COST : this.#costAt(own, call, usage)
      return cost.nanoUsd === null
        ? { cost: this.#costAt(known, call, usage), isSure: false }
        : { cost, isSure: true }
    })
    return costs.every(({ cost }) => cost.nanoUsd === null)
      ? UNKNOWN_COST
      : sumAttempts(costs, this.source)
  }

  #costAt(known: Listed, call: PricedCall & AsServed, usage: Usage): Cost {
    const { startedAt, outcome } = call
    const price = this.#priceOf(known, startedAt)
    if (price === undefined) {
      const { unlisted } = known
      return unlisted === undefined
        ? UNKNOWN_COST
        : toEstimated(costOfDeclared('assumed', unlisted, { usage, outcome }))
    }
    const as = call.as ?? priceAsServed(known, known.atAddress, call.usage?.served)
    const cost = costOfListed(price, { usage, outcome, source: this.source, as })
    const isSure = !known.isInPart && as.isKnown && usage.hasCutParts === undefined
    return isSure ? cost : toEstimated(cost)
  }

  /** Looks up another model of the target's provider. */
  #recallModel(target: string | null, model: string): Listed | undefined {
    const providerId = target?.slice(0, target.indexOf('/')) ?? ''
    const known = this.#recall(`${providerId}/${model}`)
    return known.type === 'listed' ? known : undefined
  }

  /** Whether usage of this target has a price. */
  isPriced(accountId: AccountId, target: string, asked: AskedPrice): boolean {
    const { at, isSurcharged } = asked
    const known = this.#recall(target)
    if (known.type === 'free') return true
    if (known.type === 'unknown') return false
    if (known.type === 'owned') return this.#declaredPrices(accountId, known.model) !== undefined
    if (isSurcharged === true) return false
    if (known.type === 'declared') return true
    if (known.isInPart) return false
    if (known.reports !== undefined) return true
    const price = this.#priceOf(known, at)
    return price !== undefined && partsOfListed(price.prices, NO_USAGE) !== undefined
  }

  feesOf(target: string, tools: readonly ToolKind[]): number {
    const known = this.#recall(target)
    if (known.type !== 'listed' && known.type !== 'declared') return 0
    const fees = feesAt(known)
    return costOfParts(tools.map((tool) => ({ count: 1, usdPerMillion: fees[tool] ?? 0 })))
  }

  /**
   * Recomputes the cost of an earlier call, with the prices declared then.
   * @returns undefined when the stored price came from another source, so that the costs are not
   * comparable
   */
  recompute(call: PricedCall, stored: Cost | undefined): Cost | undefined {
    if (stored === undefined) return this.#recompute(call, stored)
    const { cost, uses } = splitUses(stored)
    const computed = this.#recompute(call, cost)
    if (computed === undefined) return undefined
    const whole = withUses(computed, uses)
    return isSameAmount(whole.nanoUsd, stored.nanoUsd)
      ? { ...whole, nanoUsd: stored.nanoUsd }
      : whole
  }

  #recompute(call: PricedCall, stored: Cost | undefined): Cost | undefined {
    if (stored?.source === NOTHING_SENT.source) return stored
    const declared = stored?.source == null ? undefined : parseDeclaredSource(stored.source)
    if (declared !== undefined) {
      const { usage, outcome } = call
      const cost = costOfDeclared(declared.by, declared.prices, { usage, outcome })
      return stored?.status === 'estimated' ? withGuessedUsage(cost) : cost
    }
    // Calls of a free dialect stay free, even at a provider that charges for other calls.
    if (call.usage === null && stored?.source === FREE_COST.source) return stored
    // Rows do not store why a cost is an estimate, so an estimate stays an estimate. Only the
    // source stores how the call was served.
    const as = stored?.source == null ? undefined : splitFactors(stored).price
    const now = this.costOf({ ...call, as, isEstimated: stored?.status === 'estimated' })
    const wasPriced = stored !== undefined && stored.source !== null
    return wasPriced && now.source !== stored.source ? undefined : now
  }

  /**
   * The parts of the stored cost; empty for a free call.
   * @returns undefined when the cost is unknown, or its price has changed
   */
  partsOf(call: PricedCall, stored: Cost | undefined): readonly CostPart[] | undefined {
    if (stored === undefined || stored.nanoUsd === null) return undefined
    const { cost, uses } = splitUses(stored)
    if (cost.nanoUsd === null) return uses
    const parts = this.#partsOf(call, cost)
    return parts === undefined || uses.length === 0 ? parts : [...parts, ...uses]
  }

  #partsOf(call: PricedCall, stored: Cost): readonly CostPart[] | undefined {
    if (stored.source === REPORTED) return []
    const computed = this.#recompute(call, stored)
    if (computed === undefined || !isSameAmount(computed.nanoUsd, stored.nanoUsd)) return undefined
    if (stored.source === FREE_COST.source || stored.source === NOTHING_SENT.source) return []
    if (call.target === null) return undefined
    if (call.usage === null) return isFreeWhateverIsUsed(stored) ? [] : undefined
    const declared = stored.source === null ? undefined : parseDeclaredSource(stored.source)
    if (declared !== undefined) return partsOfOwned(declared.prices, call.usage)
    const known = this.#recall(call.target)
    const price = known.type === 'listed' ? this.#priceOf(known, call.startedAt) : undefined
    if (price === undefined) return undefined
    const parts = partsOfListed(price.prices, call.usage)
    return parts === undefined ? undefined : scaleParts(parts, splitFactors(stored).price)
  }

  #loaded(): PriceTable {
    this.#table ??= this.#loadTable()
    return this.#table
  }

  /** Looked up once a minute: prices change, some by the time of day. */
  #priceOf(known: Listed, at: number): ListedPrice | undefined {
    const minute = Math.floor(at / PRICE_LIFE_MS)
    if (known.minute !== minute) {
      known.price = this.#loaded().find(known.provider, known.model, at)
      known.minute = minute
    }
    return known.price
  }

  #recall(target: string): KnownTarget {
    const known = this.#remembered.get(target)
    if (known !== undefined) return known
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    const found = lookUp(target, this.#providers)
    this.#remembered.set(target, found)
    return found
  }
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

function toDeclaredModel([id, { input, output }]: readonly [string, UsdPrices]): KnownModel {
  return { ...toFreeModel(id), inputUsdPerMillion: input, outputUsdPerMillion: output }
}

/** Earlier versions rounded costs to millionths of a dollar. */
const MICRO_IN_NANO_USD = 1_000

function isSameAmount(computed: number | null, stored: number | null): boolean {
  if (computed === null || stored === null || computed === stored) return computed === stored
  const isWholeMicros = stored % MICRO_IN_NANO_USD === 0
  return isWholeMicros && Math.abs(computed - stored) <= MICRO_IN_NANO_USD / 2
}

/** Estimates unknown fees by usual fees. */
function feesAt({ toolFees, usualToolFees }: PricedUses): ToolFees {
  return { ...usualToolFees, ...toolFees }
}

/**
 * Answers do not report uses of other tools, so a call that offers such a tool counts as one use.
 */
function withUncounted(asked: readonly ToolKind[] | undefined, uses: ToolUses = NO_USES): ToolUses {
  return asked?.includes('otherTool') === true ? { ...uses, otherTool: 1 } : uses
}

function haveFees(fees: ToolFees, uses: ToolUses): boolean {
  return (Object.keys(uses) as ToolKind[]).every((kind) => fees[kind] !== undefined)
}

/** Declared prices apply to one model, served in the usual way. */
function isNotAsDeclared(usage: Usage | null): boolean {
  const { attempts, isUnsure } = usage?.billing ?? NO_BILLING
  const isCut = usage?.hasCutParts === true
  return attempts !== undefined || isUnsure === true || isCut || isUnusual(usage?.served)
}

const NO_BILLING: Billing = {}

/** An estimated usage makes an estimated cost, unless the price is zero. */
function withGuessedUsage(cost: Cost): Cost {
  return isFreeWhateverIsUsed(cost) ? cost : toEstimated(cost)
}

function isFreeWhateverIsUsed({ source }: Cost): boolean {
  const declared = source === null ? undefined : parseDeclaredSource(source)
  return declared !== undefined && isNothing(declared.prices)
}

/** How the call was served. Undefined: as the usage reports. */
interface AsServed {
  readonly as?: ServedPrice | undefined
}

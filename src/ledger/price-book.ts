/**
 * The cost of a call: its target's price times the usage that its provider reported. An unreported
 * count is never guessed.
 * `exact`: the provider's own cost report; or the model's own price, a complete report, and a known
 * factor for how the call was served. `estimated`: a family's price, a call that did not end
 * normally, tokens with an undetermined price, or tools that may have been used without being
 * counted. `unknown`: all other cases.
 */
import {
  type Cost,
  type CostPart,
  FREE_COST,
  NO_USES,
  type OtherPrice,
  type ToolFees,
  type ToolKind,
  type ToolUses,
  UNKNOWN_COST,
} from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { KnownModel, ModelDetails } from '../core/known-model.ts'
import type { ModelEntry } from '../core/model-entry.ts'
import type { ModelFacts } from '../core/model-facts.ts'
import type { ModelOverlay } from '../core/model-overlay.ts'
import { costOfParts } from '../core/money.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { BilledAttempt, Billing, Usage } from '../core/usage.ts'
import type { KnownFacts, PriceQuery } from '../gateway/ports.ts'
import {
  ANSWERED,
  asReported,
  sumAttempts,
  toEstimated,
  UNPRICED,
  withGuessedUsage,
} from './billed-price.ts'
import type { AsServed, CallToPrice } from './call-to-price.ts'
import { costOfDeclared, partsOfListed, partsOfUses, withUses } from './cost-parts.ts'
import { OVERLAY } from './entry-price.ts'
import type { Declared, Listed, PricedUses } from './known-target.ts'
import { costOfListed } from './listed-cost.ts'
import { isNameOf, type KnownPrice, type PricedKinds } from './price-table.ts'
import {
  isUnanswered,
  isUnusual,
  priceAsServed,
  type ServedPrice,
  scaleParts,
  tierIn,
  withTier,
} from './served-price.ts'
import { partsOf, recompute } from './stored-costs.ts'
import { TargetPrices, type TargetPricesOptions } from './target-prices.ts'

export interface PriceBookOptions extends TargetPricesOptions {
  readonly declaredPrices?: (accountId: AccountId, slug: string) => DeclaredPrices | undefined
}

const NOTHING_ASKED_FOR: readonly OtherPrice[] = []
const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

export class PriceBook implements KnownFacts {
  readonly #declaredPrices: NonNullable<PriceBookOptions['declaredPrices']>
  #targets: TargetPrices
  #inForce: PriceBook | undefined

  constructor(
    { declaredPrices, ...options }: PriceBookOptions,
    targets: TargetPrices = new TargetPrices(options),
  ) {
    this.#declaredPrices = declaredPrices ?? (() => undefined)
    this.#targets = targets
  }

  /** The same prices, which no reload replaces. */
  get inForce(): PriceBook {
    const [declaredPrices, targets] = [this.#declaredPrices, this.#targets]
    this.#inForce ??= new PriceBook({ providers: new Map(), declaredPrices }, targets)
    return this.#inForce
  }

  get source(): string {
    return this.#targets.table.source
  }

  get isLoaded(): boolean {
    return this.#targets.isLoaded
  }

  /**
   * Loads the table, while no caller waits.
   * @throws when the package is not installed
   */
  load(): void {
    void this.source
  }

  /** Calls that hold `inForce` keep the previous prices. */
  replaceOverlay(overlay: ModelOverlay, added?: readonly ModelEntry[]): void {
    this.#targets = this.#targets.replaced(overlay, added)
    this.#inForce = undefined
  }

  /** As `TargetPrices`. */
  sourceWithoutAdded(target: string, at: number): string | undefined {
    return this.#targets.sourceWithoutAdded(target, at)
  }

  get overlay(): ModelOverlay {
    return this.#targets.overlay
  }

  modelsOf(providerId: string, at: number): readonly KnownModel[] {
    return this.#targets.modelsOf(providerId, at)
  }

  describe(target: string, at: number, listed?: KnownModel): ModelDetails {
    return this.#targets.describe(target, at, listed)
  }

  factsOf(providerId: string, model: string): ModelFacts | undefined {
    return this.#targets.factsOf(providerId, model)
  }

  /**
   * Takes 0.1 µs for a known target; the first call of a listed provider loads the table (about 20
   * ms).
   */
  costOf(call: CallToPrice & AsServed): Cost {
    const cost = this.#costOf(call)
    return call.isEstimated === true ? withGuessedUsage(cost) : cost
  }

  #costOf(call: CallToPrice & AsServed): Cost {
    const { target, usage, startedAt } = call
    if (target === null) return FREE_COST
    const known = this.#targets.find(target, startedAt)
    if (known.type === 'free') return FREE_COST
    if (known.type === 'owned') {
      const declared = call.ownedPrices ?? this.#declaredPrices(call.accountId, known.model)
      if (declared === undefined) return this.#estimate(call)
      const cost = costOfDeclared('owned-model', declared, { usage, outcome: call.outcome })
      return isNotAsDeclared(usage) ? withGuessedUsage(cost) : cost
    }
    if (known.type === 'unknown') return this.#estimate(call)
    const cost = this.#costWithUses(known, call)
    return known.type === 'listed' ? asReported(known.reports, call, cost) : cost
  }

  #costWithUses(known: Listed | Declared, call: CallToPrice & AsServed): Cost {
    const { usage } = call
    const priced = this.#costOfPriced(known, call)
    const cost = priced.nanoUsd === null ? this.#estimate(call) : priced
    const { otherPrices = NOTHING_ASKED_FOR, tools, toolUses } = call
    // With several attempts, the answer reports how only the last attempt was served.
    const isOfSome = otherPrices.length > 0 && usage?.billing?.attempts !== undefined
    const isOther = isOfSome || isUnanswered(otherPrices, usage?.served)
    if (tools === undefined && toolUses === undefined) return isOther ? toEstimated(cost) : cost
    const uses = withUncounted(tools, toolUses)
    const isExact = !isOther && haveFees(known.toolFees, uses)
    return withUses(isExact ? cost : toEstimated(cost), partsOfUses(feesAt(known), uses))
  }

  /** The cost of usage without a known price, if a limit counts it. */
  #estimate({ target, usage, startedAt, estimateAs }: CallToPrice): Cost {
    if (target === null || usage === null || estimateAs === undefined) return UNKNOWN_COST
    const { input, output } = this.#targets.unpricedPriceOf(target, startedAt, estimateAs)
    const nanoUsd = costOfParts([
      { count: usage.inputTokens, usdPerMillion: input },
      { count: usage.outputTokens, usdPerMillion: output },
    ])
    return { nanoUsd, status: 'estimated', source: UNPRICED }
  }

  #costOfPriced(known: Listed | Declared, call: CallToPrice & AsServed): Cost {
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

  #costOfAnswer(known: Listed, call: CallToPrice & AsServed, usage: Usage): Cost {
    const { target, answeredBy, startedAt } = call
    const own = this.#targets.priceOf(known, startedAt)
    // The operator's price applies to whatever answers under the target's name.
    if (own !== undefined && isFromEntry(own)) return this.#costAt(known, call, usage)
    const isMoving = own?.isMoving === true
    if (!isMoving && (answeredBy === undefined || isNameOf(known.model, answeredBy)))
      return this.#costAt(known, call, usage)
    const other =
      answeredBy === undefined ? undefined : this.#recallModel(target, answeredBy, startedAt)
    const price = other === undefined ? undefined : this.#targets.priceOf(other, startedAt)
    if (other === undefined || price === undefined || (isMoving && price.isMoving === true))
      return toEstimated(this.#costAt(known, call, usage))
    // Rows do not store the answering model, so the source says that it resolved an alias.
    if (!isMoving && price.prices === own?.prices) return this.#costAt(known, call, usage)
    const { nanoUsd, status, source } = this.#costAt(other, call, usage)
    const cost = { nanoUsd, status, source: `${source ?? ''}${ANSWERED}` }
    return known.isInPart ? toEstimated(cost) : cost
  }

  #costOfAttempts(
    known: Listed,
    call: CallToPrice & AsServed,
    attempts: readonly BilledAttempt[],
  ): Cost {
    const costs = attempts.map(({ model, usage }) => {
      if (model === undefined) return { cost: this.#costAt(known, call, usage), isSure: true }
      const own = this.#recallModel(call.target, model, call.startedAt)
      const cost = own === undefined ? UNKNOWN_COST : this.#costAt(own, call, usage)
      return cost.nanoUsd === null
        ? { cost: this.#costAt(known, call, usage), isSure: false }
        : { cost, isSure: true }
    })
    return costs.every(({ cost }) => cost.nanoUsd === null)
      ? UNKNOWN_COST
      : sumAttempts(costs, this.#targets.priceOf(known, call.startedAt)?.source ?? this.source)
  }

  #costAt(known: Listed, call: CallToPrice & AsServed, usage: Usage): Cost {
    const { startedAt, outcome } = call
    const price = this.#targets.priceOf(known, startedAt)
    if (price === undefined) {
      const { unlisted } = known
      return unlisted === undefined
        ? UNKNOWN_COST
        : toEstimated(costOfDeclared('assumed', unlisted, { usage, outcome }))
    }
    const { kinds, as } = this.#asServed(known, price, call)
    const { isOwn, source } = price
    const cost = costOfListed({ ...kinds, isOwn }, { usage, outcome, source, as })
    const isInPart = known.isInPart && !isFromEntry(price)
    const isSure = !isInPart && as.isKnown && usage.hasCutParts === undefined
    return isSure ? cost : toEstimated(cost)
  }

  /**
   * The prices of the tier that served the call, and the factor for all other properties of the
   * service.
   */
  #asServed(
    known: Listed,
    price: KnownPrice,
    { as, usage }: AsServed & Pick<CallToPrice, 'usage'>,
  ): { readonly kinds: PricedKinds; readonly as: ServedPrice } {
    if (price.tiers === undefined)
      return { kinds: price, as: as ?? priceAsServed(known, known.atAddress, usage?.served) }
    const served = usage?.served
    const tier = as === undefined ? served?.tier : tierIn(as, Object.keys(price.tiers))
    const kinds = tier === undefined ? undefined : price.tiers[tier]
    if (tier === undefined || kinds === undefined)
      return { kinds: price, as: as ?? priceAsServed(known, known.atAddress, served) }
    const { tier: _, ...others } = served ?? {}
    return { kinds, as: as ?? withTier(priceAsServed(known, known.atAddress, others), tier) }
  }

  #recallModel(target: string | null, model: string, at: number): Listed | undefined {
    const providerId = target?.slice(0, target.indexOf('/')) ?? ''
    const known = this.#targets.find(`${providerId}/${model}`, at)
    return known.type === 'listed' ? known : undefined
  }

  isPriced(accountId: AccountId, target: string, asked: PriceQuery): boolean {
    const { at, isSurcharged } = asked
    const known = this.#targets.find(target, at)
    if (known.type === 'free') return true
    if (known.type === 'unknown') return false
    if (known.type === 'owned') return this.#declaredPrices(accountId, known.model) !== undefined
    if (isSurcharged === true) return false
    if (known.type === 'declared') return true
    const price = this.#targets.priceOf(known, at)
    if (known.isInPart && !(price !== undefined && isFromEntry(price))) return false
    if (known.reports !== undefined) return true
    return price !== undefined && partsOfListed(price.prices, NO_USAGE) !== undefined
  }

  feesOf(target: string, tools: readonly ToolKind[]): number {
    const known = this.#targets.recall(target)
    if (known.type !== 'listed' && known.type !== 'declared') return 0
    const fees = feesAt(known)
    return costOfParts(tools.map((tool) => ({ count: 1, usdPerMillion: fees[tool] ?? 0 })))
  }

  partsAsServed(
    call: CallToPrice,
    usage: Usage,
    servedAs: ServedPrice,
  ): readonly CostPart[] | undefined {
    const { target, startedAt } = call
    const known = target === null ? undefined : this.#targets.find(target, startedAt)
    if (known?.type !== 'listed') return undefined
    const price = this.#targets.priceOf(known, startedAt)
    if (price === undefined) return undefined
    const { kinds, as } = this.#asServed(known, price, { usage, as: servedAs })
    const parts = partsOfListed(kinds.prices, usage)
    return parts && scaleParts(parts, as)
  }

  recompute(
    call: CallToPrice,
    stored: Cost | undefined,
    wrong?: readonly string[],
  ): Cost | undefined {
    return recompute(this, call, stored, wrong)
  }

  partsOf(call: CallToPrice, stored: Cost | undefined): readonly CostPart[] | undefined {
    return partsOf(this, call, stored)
  }
}

function isFromEntry({ source }: KnownPrice): boolean {
  return source.startsWith(OVERLAY)
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

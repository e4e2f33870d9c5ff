/**
 * What a call cost: its target's price times what its provider reported. Knows no provider by name and no store; never
 * guesses a count that was not reported.
 *
 * `exact`: the model's own price and a whole report. `estimated`: the price of its family, a call that did not end well, or
 * tokens of which some may have another price that the report does not tell apart. `unknown`: the rest. Tokens are what is
 * priced; what providers take for single tools (a web search) is not part of any report.
 */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { CallOutcome } from '../core/call.ts'
import type { Cost } from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { Usage } from '../core/usage.ts'
import { type ListedPrice, loadPriceTable, type PriceTable } from './price-table.ts'

/** US cents per million tokens, as declared for an owned model. */
export interface DeclaredPrices {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
}

/** How a provider's calls are priced: by the table's name for it, or not at all. */
export type ProviderPricing = { readonly type: 'listed'; readonly name: string } | { readonly type: 'free' }

export interface PriceBookOptions {
  /** By provider id; of one that is missing nothing is known. */
  readonly providers: ReadonlyMap<string, ProviderPricing>
  /** In memory. Undefined: the account has no such model. */
  readonly declaredPrices?: (accountId: AccountId, slug: string) => DeclaredPrices | undefined
  readonly loadTable?: () => PriceTable
}

export interface PricedCall {
  readonly accountId: AccountId
  /** `provider/model`; null: no upstream was asked. */
  readonly target: string | null
  readonly usage: Usage | null
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** Absent: it succeeded. */
  readonly outcome?: CallOutcome
}

const OWNED = 'owned'
const NOTHING_ASKED: Cost = { microUsd: 0, status: 'exact', source: 'free' }
const UNKNOWN: Cost = { microUsd: null, status: 'unknown', source: null }

/** Prices that depend on the time are looked up again each minute; the table knows no finer one. */
const PRICE_LIFE_MS = 60_000
/** Targets are named by customers: what is remembered of them is bounded. */
const MAX_REMEMBERED = 5_000

export class PriceBook {
  readonly #providers: ReadonlyMap<string, ProviderPricing>
  readonly #declaredPrices: NonNullable<PriceBookOptions['declaredPrices']>
  readonly #loadTable: () => PriceTable
  #table: PriceTable | undefined
  readonly #remembered = new Map<
    string,
    { readonly minute: number; readonly price: ListedPrice | undefined }
  >()

  constructor(options: PriceBookOptions) {
    this.#providers = options.providers
    this.#declaredPrices = options.declaredPrices ?? (() => undefined)
    this.#loadTable = options.loadTable ?? loadPriceTable
  }

  /** The table's name and version, with which costs can be computed again. Loads it. */
  get source(): string {
    return this.#loaded().source
  }

  /** Whether `costOf` answers without loading the table first, as it must while a caller waits. */
  get isLoaded(): boolean {
    return this.#table !== undefined
  }

  /** Loads the table, when nobody waits for it. @throws when the package is not installed */
  load(): void {
    this.#loaded()
  }

  /** A fifth of a microsecond once the target was seen; the first call of a listed provider loads the table (some 20 ms). */
  costOf(call: PricedCall): Cost {
    if (call.target === null) return NOTHING_ASKED
    const slash = call.target.indexOf('/')
    const providerId = call.target.slice(0, slash)
    const pricing = this.#providers.get(providerId)
    if (pricing?.type === 'free') return NOTHING_ASKED
    if (call.usage === null) return UNKNOWN
    const model = call.target.slice(slash + 1)
    if (providerId === OWNED) {
      const declared = this.#declaredPrices(call.accountId, model)
      return declared === undefined ? UNKNOWN : costOfOwned(declared, call.usage, call.outcome)
    }
    if (pricing === undefined) return UNKNOWN
    const price = this.#find(call.target, { provider: pricing.name, model, at: call.at })
    if (price === undefined) return UNKNOWN
    return costOfListed(price, { usage: call.usage, outcome: call.outcome, source: this.source })
  }

  /**
   * The same, for a call that was priced before: with what the owned model cost then. @returns undefined when it was
   * priced from another source than would be used now, so that the two cannot be compared
   */
  recompute(call: PricedCall, stored: Cost | undefined): Cost | undefined {
    const declared = stored?.source == null ? undefined : parseOwnedSource(stored.source)
    if (declared !== undefined) {
      return call.usage === null ? UNKNOWN : costOfOwned(declared, call.usage, call.outcome)
    }
    const now = this.costOf(call)
    const wasPriced = stored !== undefined && stored.source !== null
    return wasPriced && now.source !== stored.source ? undefined : now
  }

  #loaded(): PriceTable {
    this.#table ??= this.#loadTable()
    return this.#table
  }

  #find(target: string, named: { provider: string; model: string; at: number }): ListedPrice | undefined {
    const minute = Math.floor(named.at / PRICE_LIFE_MS)
    const remembered = this.#remembered.get(target)
    if (remembered?.minute === minute) return remembered.price
    const price = this.#loaded().find(named.provider, named.model, named.at)
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    this.#remembered.set(target, { minute, price })
    return price
  }
}

/** A cent for a million tokens is a hundredth of a micro-dollar for one. */
function costOfOwned(prices: DeclaredPrices, usage: Usage, outcome: CallOutcome | undefined): Cost {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const hundredths =
    (usage.inputTokens - cached) * prices.input +
    cached * prices.cachedInput +
    usage.outputTokens * prices.output
  return {
    microUsd: Math.round(hundredths / 100),
    status: isWhole(outcome) ? 'exact' : 'estimated',
    source: `owned-model@${prices.input}/${prices.cachedInput}/${prices.output}`,
  }
}

function parseOwnedSource(source: string): DeclaredPrices | undefined {
  const [, input, cachedInput, output] = /^owned-model@(\d+)\/(\d+)\/(\d+)$/.exec(source) ?? []
  if (input === undefined) return undefined
  return { input: Number(input), cachedInput: Number(cachedInput), output: Number(output) }
}

interface Reported {
  readonly usage: Usage
  readonly outcome: CallOutcome | undefined
  readonly source: string
}

/** Prices are US dollars per million tokens, which is micro-dollars per token. */
function costOfListed({ prices, isOwn }: ListedPrice, { usage, outcome, source }: Reported): Cost {
  const rate = (key: string) => rateOf(prices[key], usage.inputTokens)
  const input = rate('input_mtok')
  const output = rate('output_mtok')
  if (input === undefined && output === undefined) return UNKNOWN
  const cacheWrite = rate('cache_write_mtok')
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached)
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens)
  const microUsd =
    (usage.inputTokens - cached - written) * (input ?? 0) +
    cached * (rate('cache_read_mtok') ?? input ?? 0) +
    written * (cacheWrite ?? input ?? 0) +
    (usage.outputTokens - reasoning) * (output ?? 0) +
    reasoning * (rate('output_reasoning_mtok') ?? output ?? 0) +
    // For a thousand requests, of which this is one.
    (rate('requests_kcount') ?? 0) * 1000

  const isReportWhole =
    (usage.inputTokens === 0 || input !== undefined) &&
    (usage.outputTokens === 0 || output !== undefined) &&
    // What was written to a cache costs more than what was read, and for an hour more than for minutes.
    (cacheWrite === undefined || usage.cacheWriteTokens !== undefined) &&
    (written === 0 || prices.cache_write_1h_mtok === undefined) &&
    !OTHER_TOKENS.some((key) => prices[key] !== undefined)
  const status = isOwn && isReportWhole && isWhole(outcome) ? 'exact' : 'estimated'
  return { microUsd: Math.round(microUsd), status, source }
}

/** Tokens with a price of their own that reports do not tell apart, and fees that depend on more than their number. */
const OTHER_TOKENS = [
  'input_audio_mtok',
  'output_audio_mtok',
  'input_image_mtok',
  'output_image_mtok',
  'input_video_mtok',
  'output_video_mtok',
  'output_citation_mtok',
  'requests_kcount',
]

/** Above a tier's start all tokens have the tier's price, by the length of the input (as Google and Anthropic state it). */
function rateOf(price: ModelPrice[string], inputTokens: number): number | undefined {
  if (price === undefined || typeof price === 'number') return price
  let rate = price.base
  for (const tier of price.tiers) if (inputTokens > tier.start) rate = tier.price
  return rate
}

/** What a call that was cut short has used is more than was reported until then. */
function isWhole(outcome: CallOutcome | undefined): boolean {
  return outcome === undefined || outcome === 'succeeded'
}

import { createHash } from 'node:crypto'
import type { ModelPrice } from '@pydantic/genai-prices'
import type { CostPartKind } from '../core/cost.ts'
import type { DatedPrices, EntryPrices, ModelEntry, PriceMember } from '../core/model-entry.ts'
import type { ModelOverlay } from '../core/model-overlay.ts'
import type { KnownPrice, PricedKinds } from './price-table.ts'

export interface OutsidePrices {
  find(target: string, at: number): ModelPrice | undefined
  readonly source: string
}

/** A used entry, stored in full so that an operator can look up the prices of an old cost. */
export interface UsedEntry {
  readonly hash: string
  readonly text: string
}

/** The prefix of a cost's source; the entry's hash follows. */
export const OVERLAY = 'overlay:'
const HASH_DIGITS = 12

export class EntryPricing {
  readonly #entries: readonly ModelEntry[]
  readonly #outside: OutsidePrices
  /** The model after the last entry. Undefined: no entry is like another model. */
  readonly #end: string | undefined
  #used: UsedEntry | undefined

  /** @param target must have an entry */
  constructor(overlay: ModelOverlay, target: string, outside: OutsidePrices) {
    const { entries, end } = overlay.chainOf(target)
    this.#entries = entries
    this.#outside = outside
    this.#end = entries.some(({ like }) => like !== undefined) ? end : undefined
  }

  get used(): UsedEntry {
    this.#used ??= this.#toUsed()
    return this.#used
  }

  #toUsed(): UsedEntry {
    // The price also depends on the model after `like`, so the cost's source names that model's
    // source.
    const isCompleted = this.#entries.at(-1)?.like !== undefined
    const parts = isCompleted ? [...this.#entries, this.#outside.source] : this.#entries
    const text = JSON.stringify(parts)
    const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
    return { hash, text }
  }

  /** The prices of the usual tier. Undefined as `priceAt`. */
  ratesAt(at: number): ModelPrice | undefined {
    return this.#completedFrom(0, at)?.prices
  }

  /** Undefined while no price of the entry is in force. */
  priceAt(at: number): KnownPrice | undefined {
    const [entry] = this.#entries
    if (entry === undefined) return undefined
    const own = latestOf(entry, at)
    const like = entry.like === undefined ? undefined : this.#completedFrom(1, at)
    if (own === undefined && like === undefined) return undefined
    const given = own === undefined ? NOTHING : toListed(own)
    const prices = { ...like?.prices, ...given.prices }
    return {
      prices,
      isOwn: true,
      source: OVERLAY + this.used.hash,
      borrowed: borrowedKinds(prices, given.prices),
      tiers: completeTiers(prices, given, like?.tiers),
    }
  }

  /** The date of the entry's own prices in force, if the entry gives one. */
  fromAt(at: number): string | undefined {
    const [entry] = this.#entries
    return entry && latestOf(entry, at)?.from
  }

  /** The prices of the entry at `first`, completed by those after it. */
  #completedFrom(first: number, at: number): Given | undefined {
    let given: Given | undefined
    for (let index = this.#entries.length; index >= first; index -= 1) {
      const entry = this.#entries[index]
      const own = entry === undefined ? undefined : latestOf(entry, at)
      const ofEntry = own === undefined ? undefined : toListed(own)
      if (entry?.like !== undefined)
        given = {
          prices: { ...given?.prices, ...ofEntry?.prices },
          tiers: ofEntry?.tiers ?? given?.tiers,
        }
      // The last entry, unless it is like a model without an entry.
      else if (entry !== undefined) given = ofEntry ?? given
      else given = this.#atEnd(at)
    }
    return given
  }

  #atEnd(at: number): Given | undefined {
    const prices = this.#end === undefined ? undefined : this.#outside.find(this.#end, at)
    return prices === undefined ? undefined : { prices, tiers: undefined }
  }
}

/** Whether the entry, or an entry that its `like` leads to, can ever give a price. */
export function givesPrices({ prices, like }: ModelEntry): boolean {
  return prices !== undefined || like !== undefined
}

type Tiers = Readonly<Record<string, ModelPrice>>

interface Given {
  readonly prices: ModelPrice
  readonly tiers: Tiers | undefined
}

const NOTHING: Given = { prices: {}, tiers: undefined }

/** The newest price whose `from` is not after `at`. A price without `from` is always in force. */
function latestOf({ prices = [] }: ModelEntry, at: number): DatedPrices | undefined {
  let latest: DatedPrices | undefined
  let since = Number.NEGATIVE_INFINITY
  for (const dated of prices) {
    const from = dated.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(dated.from)
    if (from > at || (latest !== undefined && from < since)) continue
    latest = dated
    since = from
  }
  return latest
}

/** The price table's names, so that both kinds of prices go through the same computation. */
const LISTED_NAMES: Readonly<Record<PriceMember, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWriteHour: 'cache_write_1h_mtok',
  inputAudio: 'input_audio_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
  perRequest: 'requests_kcount',
}
const MEMBERS = Object.keys(LISTED_NAMES) as readonly PriceMember[]

function toListed(own: DatedPrices): Given {
  const { above = [], tiers } = own
  const prices: ModelPrice = toFlat(own)
  for (const member of MEMBERS) {
    const base = prices[LISTED_NAMES[member]]
    const steps = above.flatMap((step) => {
      const price = step[member]
      return price === undefined ? [] : [{ start: step.inputTokens, price }]
    })
    if (typeof base === 'number' && steps.length > 0)
      prices[LISTED_NAMES[member]] = { base, tiers: steps }
  }
  return {
    prices,
    tiers:
      tiers &&
      Object.fromEntries(Object.entries(tiers).map(([name, given]) => [name, toFlat(given)])),
  }
}

function toFlat(given: EntryPrices): ModelPrice {
  const prices: ModelPrice = {}
  for (const member of MEMBERS) {
    const price = given[member]
    if (price === undefined) continue
    // The price table's fee is for a thousand requests. Without a fee, the request adds nothing to
    // the cost.
    if (member !== 'perRequest') prices[LISTED_NAMES[member]] = price
    else if (price > 0) prices[LISTED_NAMES[member]] = price * 1_000
  }
  return prices
}

/** Each tier with all prices of the model. */
function completeTiers(
  prices: ModelPrice,
  own: Given,
  likeTiers: Tiers | undefined,
): KnownPrice['tiers'] {
  const tiers = own.tiers ?? likeTiers
  return (
    tiers &&
    Object.fromEntries(
      Object.entries(tiers).map(([name, tier]) => {
        const all = { ...prices, ...tier }
        const ofEntry =
          own.tiers === undefined ? without(own.prices, tier) : { ...own.prices, ...tier }
        return [name, { prices: all, borrowed: borrowedKinds(all, ofEntry) }]
      }),
    )
  )
}

function without(prices: ModelPrice, others: ModelPrice): ModelPrice {
  return Object.fromEntries(Object.entries(prices).filter(([name]) => others[name] === undefined))
}

const KINDS_OF: Readonly<Record<string, CostPartKind>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cachedInput',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWriteHour',
  input_audio_mtok: 'inputAudio',
  cache_audio_read_mtok: 'cachedInputAudio',
  output_audio_mtok: 'outputAudio',
  output_image_mtok: 'output',
  output_video_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
  requests_kcount: 'request',
}

function borrowedKinds(all: ModelPrice, own: ModelPrice): PricedKinds['borrowed'] {
  const names = Object.keys(all).filter((name) => own[name] === undefined)
  if (names.length === 0) return undefined
  return new Set(names.flatMap((name) => KINDS_OF[name] ?? []))
}

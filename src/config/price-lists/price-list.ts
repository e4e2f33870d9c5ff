/** Collects the models of a public price list as entries of the configuration file. */
import { modelEntry } from '../../contract/models-section.ts'
import type { DatedPrices, EntryPrices, ModelEntry, PricesAbove } from '../../core/model-entry.ts'
import { MODALITIES, type Modality, type ModelFacts } from '../../core/model-facts.ts'

export interface PriceList {
  readonly form: string
  readonly entries: readonly ModelEntry[]
  /** Why models were left out, with their number. */
  readonly leftOut: ReadonlyMap<string, number>
  /** Prices of listed models that an entry cannot hold, with their number. */
  readonly leftOutPrices: ReadonlyMap<string, number>
}

export type Prices = Omit<DatedPrices, 'from'>

export type Row = Readonly<Record<string, unknown>>

export const UNKNOWN_PROVIDER = 'a provider that this gateway does not have'
export const NO_TOKEN_PRICE = 'no price for input and output tokens'
const REPEATED = 'another row of a model that was read before'
const INVALID = 'a name or value that the configuration file does not allow'

export class ListedModels implements PriceList {
  readonly form: string
  readonly leftOut = new Map<string, number>()
  readonly leftOutPrices = new Map<string, number>()
  readonly #entries = new Map<string, ModelEntry>()

  constructor(form: string) {
    this.form = form
  }

  get entries(): readonly ModelEntry[] {
    return [...this.#entries.values()]
  }

  add(model: string, given: Prices, facts: ModelFacts): void {
    const prices = withoutUnknown(given)
    if (prices.input === undefined || prices.output === undefined) {
      this.leaveOut(NO_TOKEN_PRICE)
      return
    }
    if (this.#entries.has(model)) {
      this.leaveOut(REPEATED)
      return
    }
    const known = withoutUnknown(facts)
    const { data } = modelEntry.safeParse({
      model,
      prices: [prices],
      ...(Object.keys(known).length === 0 ? {} : { facts: known }),
    })
    if (data === undefined) this.leaveOut(INVALID)
    else this.#entries.set(model, data)
  }

  leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1)
  }

  leaveOutPrice(kind: string): void {
    this.leftOutPrices.set(kind, (this.leftOutPrices.get(kind) ?? 0) + 1)
  }
}

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined for anything but a price. Lists write prices as numbers or as texts of numbers. */
export function priceOf(value: unknown): number | undefined {
  const price = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof price === 'number' && Number.isFinite(price) && price >= 0 ? price : undefined
}

/** US dollars per token as US dollars per million, without the error of binary fractions. */
export function perMillion(value: unknown): number | undefined {
  const price = priceOf(value)
  return price === undefined ? undefined : Number((price * 1e6).toPrecision(12))
}

export function tokensOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

const OTHER_WORDS: Readonly<Record<string, Modality>> = { pdf: 'file', embedding: 'embeddings' }

/** Undefined unless every word is known, because a shorter list would be wrong. */
export function modalitiesOf(value: unknown): readonly Modality[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const known = value.map((word: unknown) =>
    MODALITIES.find((each) => each === word || each === OTHER_WORDS[String(word)]),
  )
  const found = known.filter((each) => each !== undefined)
  return found.length === known.length ? [...new Set(found)] : undefined
}

/** Steps in ascending order. A step may only have prices that the model also has without it. */
export function stepsOf(base: EntryPrices, steps: readonly PricesAbove[]): Prices['above'] {
  const kept = new Map<number, PricesAbove>()
  for (const { inputTokens, ...prices } of steps) {
    const known = Object.entries(withoutUnknown(prices)).filter(
      ([member]) => base[member as keyof EntryPrices] !== undefined,
    )
    if (known.length > 0) kept.set(inputTokens, { inputTokens, ...Object.fromEntries(known) })
  }
  if (kept.size === 0) return undefined
  return [...kept.values()].toSorted((one, other) => one.inputTokens - other.inputTokens)
}

function withoutUnknown<Thing extends object>(thing: Thing): Thing {
  const known = Object.entries(thing).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as Thing
}

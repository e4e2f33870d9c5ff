/**
 * The operator's entries for models, found by `provider/model`. Immutable: a reload replaces the
 * whole value.
 */
import { DEFAULT_UNPRICED_PRICE, type ModelEntry, type UnpricedPrice } from './model-entry.ts'
import type { ModelFacts } from './model-facts.ts'
import type { RuleOverrides } from './request-rules.ts'

/** Entries that complete each other, the entry of the target first. */
interface EntryChain {
  readonly entries: readonly ModelEntry[]
  /** The last `provider/model`, which may have prices and facts outside the overlay. */
  readonly end: string
}

export const ANY_SUFFIX = '*'

export class ModelOverlay {
  readonly unpricedPrice: UnpricedPrice
  /** As JSON, a tenth of the memory of objects: there may be 20,000, and few are used. */
  #exact: ReadonlyMap<string, string>
  /** Longest pattern first. */
  #patterns: readonly ModelEntry[]

  /** @param entries with different `model`s */
  constructor(entries: readonly ModelEntry[] = [], unpricedPrice = DEFAULT_UNPRICED_PRICE) {
    this.unpricedPrice = unpricedPrice
    this.#exact = toTexts(entries.filter((entry) => !isPattern(entry)))
    this.#patterns = entries
      .filter(isPattern)
      .toSorted((one, other) => other.model.length - one.model.length)
  }

  /**
   * A copy with prices of further models, which have no entry with prices here. An entry's facts
   * stay.
   */
  withPrices(added: readonly ModelEntry[]): ModelOverlay {
    if (added.length === 0) return this
    const overlay = new ModelOverlay([], this.unpricedPrice)
    const entries = added.map((entry) => ({ ...this.named(entry.model), ...entry }))
    overlay.#exact = new Map([...this.#exact, ...toTexts(entries)])
    overlay.#patterns = this.#patterns
    return overlay
  }

  get size(): number {
    return this.#exact.size + this.#patterns.length
  }

  equals(other: ModelOverlay): boolean {
    return Bun.deepEquals(
      [this.unpricedPrice, this.#exact, this.#patterns],
      [other.unpricedPrice, other.#exact, other.#patterns],
    )
  }

  /** Falls back to the longest matching pattern. */
  find(target: string): ModelEntry | undefined {
    return this.named(target) ?? this.#patterns.find(({ model }) => matches(model, target))
  }

  /** Ignores patterns, so `like` cannot lead to its own entry. */
  named(target: string): ModelEntry | undefined {
    const text = this.#exact.get(target)
    return text === undefined ? undefined : (JSON.parse(text) as ModelEntry)
  }

  names(): Iterable<string> {
    return this.#exact.keys()
  }

  /**
   * The entry, and the entries that `like` leads to. A circle, which a stored price may close after
   * a reload, ends at its first entry.
   */
  chainOf(target: string): EntryChain {
    const entries: ModelEntry[] = []
    let end = target
    let entry = this.find(target)
    while (entry !== undefined) {
      entries.push(entry)
      if (entry.like === undefined) break
      end = entry.like
      entry = entries.some(({ model }) => model === end) ? undefined : this.named(end)
    }
    return { entries, end }
  }

  /**
   * Completes the entry's facts by those of the entries in `like`.
   * @param listedFacts of a `provider/model` outside the overlay
   */
  factsOf(
    target: string,
    listedFacts: (target: string) => ModelFacts | undefined,
  ): ModelFacts | undefined {
    const { entries, end } = this.chainOf(target)
    const last = listedFacts(end)
    const known = entries.flatMap(({ facts }) => (facts === undefined ? [] : [facts]))
    if (last !== undefined) known.push(last)
    return known.length === 0 ? undefined : Object.assign({}, ...known.toReversed())
  }

  /** Completes the entry's rules by those of the entries in `like`. */
  takesOf(target: string): RuleOverrides {
    const known = this.chainOf(target).entries.map(({ takes }) => takes)
    return Object.assign({}, ...known.toReversed())
  }
}

export const NO_OVERLAY = new ModelOverlay()

function toTexts(entries: readonly ModelEntry[]): Map<string, string> {
  return new Map(entries.map((entry) => [entry.model, JSON.stringify(entry)]))
}

function isPattern({ model }: ModelEntry): boolean {
  return model.endsWith(ANY_SUFFIX)
}

function matches(pattern: string, target: string): boolean {
  return target.startsWith(pattern.slice(0, -ANY_SUFFIX.length))
}

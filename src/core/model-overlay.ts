/**
 * The operator's entries for models, found by `provider/model`. Immutable: a reload replaces the
 * whole value.
 */
import { ModelEntries } from './model-entries.ts'
import { DEFAULT_UNPRICED_PRICE, type ModelEntry, type UnpricedPrice } from './model-entry.ts'
import type { ModelFacts } from './model-facts.ts'
import type { RuleOverrides } from './request-rules.ts'

/** Entries that complete each other, the entry of the target first. */
interface EntryChain {
  readonly entries: readonly ModelEntry[]
  /** The last `provider/model`, which may have prices and facts outside the overlay. */
  readonly end: string
}

interface Takes {
  readonly target: string
  readonly takes: RuleOverrides | undefined
}

export const ANY_SUFFIX = '*'

export class ModelOverlay {
  readonly unpricedPrice: UnpricedPrice
  readonly #entries: ModelEntries
  /** Longest pattern first. */
  readonly #patterns: readonly string[]

  /** @param entries with different `model`s */
  constructor(entries: Iterable<ModelEntry> = [], unpricedPrice = DEFAULT_UNPRICED_PRICE) {
    this.unpricedPrice = unpricedPrice
    this.#entries = entries instanceof ModelEntries ? entries : new ModelEntries(entries)
    this.#patterns = [...this.#entries.names()]
      .filter(isPattern)
      .toSorted((one, other) => other.length - one.length)
  }

  /**
   * A copy with prices of further models, which have no entry with prices here. An entry's facts
   * stay.
   */
  withPrices(added: readonly ModelEntry[]): ModelOverlay {
    if (added.length === 0) return this
    const entries = new ModelEntries(this.#entries)
    for (const entry of added) entries.add({ ...this.named(entry.model), ...entry })
    return new ModelOverlay(entries, this.unpricedPrice)
  }

  get size(): number {
    return this.#entries.size
  }

  equals(other: ModelOverlay): boolean {
    return (
      Bun.deepEquals(this.unpricedPrice, other.unpricedPrice) &&
      this.#entries.equals(other.#entries)
    )
  }

  /** Falls back to the longest matching pattern. */
  find(target: string): ModelEntry | undefined {
    const named = this.named(target)
    if (named !== undefined) return named
    const pattern = this.#patterns.find((each) => matches(each, target))
    return pattern === undefined ? undefined : this.#entries.find(pattern)
  }

  /** Ignores patterns, so `like` cannot lead to its own entry. */
  named(target: string): ModelEntry | undefined {
    return isPattern(target) ? undefined : this.#entries.find(target)
  }

  /** The names of a provider's models, without patterns. */
  modelsOf(providerId: string): readonly string[] {
    const prefix = `${providerId}/`
    const models: string[] = []
    for (const name of this.#entries.names())
      if (name.startsWith(prefix) && !isPattern(name)) models.push(name.slice(prefix.length))
    return models
  }

  /**
   * The entry, and the entries that `like` leads to. A cycle, which a stored price may close after
   * a reload, ends at its first entry.
   */
  chainOf(target: string): EntryChain {
    const entries: ModelEntry[] = []
    const passed = new Set<string>()
    let end = target
    let entry = this.find(target)
    while (entry !== undefined) {
      entries.push(entry)
      passed.add(entry.model)
      if (entry.like === undefined) break
      end = entry.like
      entry = passed.has(end) ? undefined : this.named(end)
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

  /** The models that `like` leads to, the last one first, and the target itself last. */
  takesOf(target: string): readonly Takes[] {
    const { entries } = this.chainOf(target)
    const likes = entries.flatMap(({ like }) => (like === undefined ? [] : [like]))
    return [target, ...likes]
      .map((each, index) => ({ target: each, takes: entries[index]?.takes }))
      .toReversed()
  }
}

export const NO_OVERLAY = new ModelOverlay()

/**
 * Holds the overlay in force. The settings of the start live as long as the process. A reference
 * from them to the overlay itself would keep up to 20,000 replaced entries in memory.
 */
export class ReplaceableOverlay {
  #current: ModelOverlay

  constructor(overlay: ModelOverlay) {
    this.#current = overlay
  }

  get current(): ModelOverlay {
    return this.#current
  }

  replace(overlay: ModelOverlay): void {
    this.#current = overlay
  }
}

function isPattern(model: string): boolean {
  return model.endsWith(ANY_SUFFIX)
}

function matches(pattern: string, target: string): boolean {
  return target.startsWith(pattern.slice(0, -ANY_SUFFIX.length))
}

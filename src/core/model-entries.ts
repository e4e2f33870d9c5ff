/**
 * The operator's entries for models, in the order of the file. Each entry is held as JSON, a tenth
 * of the memory of objects: there may be 20,000, and calls use few.
 */
import type { ModelEntry } from './model-entry.ts'

export class ModelEntries implements Iterable<ModelEntry> {
  readonly #texts: Map<string, string>

  constructor(entries: Iterable<ModelEntry> = []) {
    const isCopy = entries instanceof ModelEntries
    this.#texts = new Map(isCopy ? entries.#texts : [])
    if (!isCopy) for (const entry of entries) this.add(entry)
  }

  get size(): number {
    return this.#texts.size
  }

  /** Replaces the entry with the same `model`. */
  add(entry: ModelEntry): void {
    this.#texts.set(entry.model, JSON.stringify(entry))
  }

  has(model: string): boolean {
    return this.#texts.has(model)
  }

  find(model: string): ModelEntry | undefined {
    const text = this.#texts.get(model)
    return text === undefined ? undefined : toEntry(text)
  }

  names(): Iterable<string> {
    return this.#texts.keys()
  }

  *[Symbol.iterator](): Iterator<ModelEntry> {
    for (const text of this.#texts.values()) yield toEntry(text)
  }

  /** Ignores the order. */
  equals(other: ModelEntries): boolean {
    if (other.size !== this.size) return false
    for (const [model, text] of this.#texts) if (other.#texts.get(model) !== text) return false
    return true
  }
}

function toEntry(text: string): ModelEntry {
  return JSON.parse(text) as ModelEntry
}

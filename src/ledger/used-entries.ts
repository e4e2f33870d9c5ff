/** Stores the operator's price entries that calls used, before the calls' costs are stored. */
import type { PriceEntry } from '../store/calls/price-entries.ts'
import type { UsedEntry } from './entry-price.ts'

interface UsedEntriesPorts {
  readonly store: { add(entries: readonly PriceEntry[]): Promise<void> }
  readonly now: () => number
}

export class UsedEntries {
  readonly #ports: UsedEntriesPorts
  readonly #noted = new Set<string>()
  #waiting: PriceEntry[] = []

  constructor(ports: UsedEntriesPorts) {
    this.#ports = ports
  }

  /** Returns immediately. */
  note({ hash, text }: UsedEntry): void {
    if (this.#noted.has(hash)) return
    this.#noted.add(hash)
    this.#waiting.push({ hash, text, firstUsedAt: this.#ports.now() })
  }

  /** Entries that cannot be stored wait for the next time. @throws the store's errors (rejects) */
  async store(): Promise<void> {
    const entries = this.#waiting
    if (entries.length === 0) return
    await this.#ports.store.add(entries)
    this.#waiting = this.#waiting.slice(entries.length)
  }
}

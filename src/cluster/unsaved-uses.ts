/**
 * What was used since its time was last written, and the writing of it: in steps, between which calls go on. Must not know
 * what was used, nor the store.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { USES_PER_STATEMENT } from '../store/save-last-used.ts'
import { SingleFlight } from './single-flight.ts'

export interface UnsavedUsesOptions<Entry> {
  readonly save: (entries: readonly Entry[]) => Promise<void>
  /** One that is gone, or has been replaced, is not written again after a failure. */
  readonly isCurrent: (entry: Entry) => boolean
}

export class UnsavedUses<Entry> {
  readonly #options: UnsavedUsesOptions<Entry>
  readonly #waiting = new Set<Entry>()
  readonly #flight = new SingleFlight(() => this.#writeAll())

  constructor(options: UnsavedUsesOptions<Entry>) {
    this.#options = options
  }

  add(entry: Entry): void {
    this.#waiting.add(entry)
  }

  delete(entry: Entry): void {
    this.#waiting.delete(entry)
  }

  has(entry: Entry): boolean {
    return this.#waiting.has(entry)
  }

  /** Writes all that wait now. On failure what is not written is kept for the next time, and the error is thrown. */
  flush(): Promise<void> {
    return this.#flight.run()
  }

  async #writeAll(): Promise<void> {
    // Those that are used meanwhile come last, and are the next flush's.
    for (let left = this.#waiting.size; left > 0; left -= USES_PER_STATEMENT) {
      const step = this.#take(Math.min(left, USES_PER_STATEMENT))
      try {
        await this.#options.save(step)
      } catch (error) {
        for (const entry of step) if (this.#options.isCurrent(entry)) this.#waiting.add(entry)
        throw error
      }
      if (left > USES_PER_STATEMENT) await nextTurn()
    }
  }

  #take(count: number): readonly Entry[] {
    const taken: Entry[] = []
    for (const entry of this.#waiting) {
      if (taken.length === count) break
      taken.push(entry)
      this.#waiting.delete(entry)
    }
    return taken
  }
}

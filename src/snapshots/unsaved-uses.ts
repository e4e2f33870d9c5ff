/**
 * Things that were used since their times were last written. Writes those times in steps, between
 * which calls go on. Must not know what was used, nor the store.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SingleFlight } from '../revocation/single-flight.ts'
import { USES_PER_STATEMENT } from '../store/save-last-used.ts'

export interface UnsavedUsesOptions<Entry> {
  readonly save: (entries: readonly Entry[]) => Promise<void>
  /** One that is gone, or has been replaced, is not written again after a failure. */
  readonly isCurrent: (entry: Entry) => boolean
}

export class UnsavedUses<Entry> {
  readonly #options: UnsavedUsesOptions<Entry>
  readonly #flight = new SingleFlight(() => this.#writeAll())
  #waiting = new Set<Entry>()
  /**
   * Nothing is taken out of it but what is gone: a set of a hundred thousand that shrinks is built
   * anew again and again, each time for milliseconds. It is gone through once.
   */
  #written = new Set<Entry>()
  #toWrite = this.#written.values()

  constructor(options: UnsavedUsesOptions<Entry>) {
    this.#options = options
  }

  add(entry: Entry): void {
    this.#waiting.add(entry)
  }

  delete(entry: Entry): void {
    this.#waiting.delete(entry)
    this.#written.delete(entry)
  }

  /** Also true of what a flush that is under way has written already. */
  has(entry: Entry): boolean {
    return this.#waiting.has(entry) || this.#written.has(entry)
  }

  /**
   * Writes all that wait now. On failure what is not written is kept for the next time, and the
   * error is thrown.
   */
  flush(): Promise<void> {
    return this.#flight.run()
  }

  async #writeAll(): Promise<void> {
    // First what a flush that failed has left.
    if (this.#written.size > 0) await this.#writeRest()
    // Those that are used meanwhile are the next flush's.
    this.#written = this.#waiting
    this.#toWrite = this.#written.values()
    this.#waiting = new Set()
    await this.#writeRest()
    this.#written = new Set()
    this.#toWrite = this.#written.values()
  }

  async #writeRest(): Promise<void> {
    for (;;) {
      const step = this.#take(USES_PER_STATEMENT)
      if (step.length === 0) return
      try {
        await this.#options.save(step)
      } catch (error) {
        for (const entry of step) if (this.#options.isCurrent(entry)) this.#waiting.add(entry)
        throw error
      }
      if (step.length < USES_PER_STATEMENT) return
      await nextTurn()
    }
  }

  #take(count: number): readonly Entry[] {
    const taken: Entry[] = []
    while (taken.length < count) {
      const { value, done } = this.#toWrite.next()
      if (done) break
      taken.push(value)
    }
    return taken
  }
}

/** Collects used entries until their last-used times are written, in steps between calls. */

import { SingleFlight } from '../cluster/single-flight.ts'
import { systemClock } from '../core/clock.ts'
import { LoopTurns } from '../core/loop-turns.ts'
import { USES_PER_STATEMENT } from '../store/resources/save-last-used.ts'

export interface UnsavedUsesOptions<Entry> {
  readonly save: (entries: readonly Entry[]) => Promise<void>
  /**
   * A whole number from 0. Neighbours are stored together, and writing them in one step touches a
   * tenth of the pages of random entries.
   */
  readonly placeOf: (entry: Entry) => number
  /** A deleted or replaced entry is not written again after a failure. */
  readonly isCurrent: (entry: Entry) => boolean
}

export interface FlushOptions {
  /** How long a last-used time waits in memory. Default five seconds. */
  readonly flushIntervalMs?: number
  readonly onFlushFailure?: (error: unknown) => void
}

const PLACES_PER_PART = 512
const ENTRIES_PER_TURN = 1_024

export class UnsavedUses<Entry> {
  readonly #options: UnsavedUsesOptions<Entry>
  readonly #flight = new SingleFlight(() => this.#writeAll())
  #waiting = new Set<Entry>()
  /**
   * Only deleted entries are removed: shrinking a set of a hundred thousand would rebuild the set
   * again and again, for milliseconds each.
   */
  #written = new Set<Entry>()
  #toWrite: Iterator<Entry> = this.#written.values()
  #stop = (): void => {}
  #tryFlush: () => Promise<void> = () => this.flush()

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

  has(entry: Entry): boolean {
    return this.#waiting.has(entry) || this.#written.has(entry)
  }

  /**
   * Writes all pending times of last use. On failure the unwritten times stay pending, and the error
   * is thrown.
   */
  flush(): Promise<void> {
    return this.#flight.run()
  }

  start({ flushIntervalMs = 5_000, onFlushFailure = () => {} }: FlushOptions): void {
    this.#tryFlush = () => this.flush().catch(onFlushFailure)
    this.#stop = systemClock.every(flushIntervalMs, () => void this.#tryFlush())
  }

  close(): Promise<void> {
    this.#stop()
    return this.#tryFlush()
  }

  async #writeAll(): Promise<void> {
    // The uses that a failed flush has left come first.
    if (this.#written.size > 0) await this.#writeRest()
    // Entries used meanwhile belong to the next flush.
    this.#written = this.#waiting
    this.#waiting = new Set()
    const turns = new LoopTurns()
    const places = new Places(this.#options.placeOf)
    let looked = 0
    for (const entry of this.#written) {
      places.add(entry)
      looked += 1
      if (looked % ENTRIES_PER_TURN === 0) await turns.next()
    }
    this.#toWrite = places.inOrder()
    await this.#writeRest()
    this.#written = new Set()
    this.#toWrite = this.#written.values()
  }

  async #writeRest(): Promise<void> {
    const turns = new LoopTurns()
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
      await turns.next()
    }
  }

  #take(count: number): readonly Entry[] {
    const taken: Entry[] = []
    while (taken.length < count) {
      const { value, done } = this.#toWrite.next()
      if (done) break
      if (this.#written.has(value)) taken.push(value)
    }
    return taken
  }
}

class Places<Entry> {
  readonly #placeOf: (entry: Entry) => number
  readonly #parts = new Map<number, Entry[]>()

  constructor(placeOf: (entry: Entry) => number) {
    this.#placeOf = placeOf
  }

  add(entry: Entry): void {
    const number = Math.floor(this.#placeOf(entry) / PLACES_PER_PART)
    const part = this.#parts.get(number)
    if (part === undefined) this.#parts.set(number, [entry])
    else part.push(entry)
  }

  *inOrder(): Generator<Entry> {
    const numbers = [...this.#parts.keys()].sort((one, other) => one - other)
    for (const number of numbers) {
      const part = this.#parts.get(number) ?? []
      yield* part.sort((one, other) => this.#placeOf(one) - this.#placeOf(other))
    }
  }
}

/** Collects the names behind hashes until they are written, in batches (decision 0121). */
import { SingleFlight } from '../cluster/single-flight.ts'
import { END_USER, MOST_TAG_VALUES, type NamedKind } from '../core/attribution.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import type { CallerName, CallerNameStore, NotedAt } from '../store/calls/caller-names.ts'
import type { AttributionRegistry } from './attribution-registry.ts'
import type { FlushOptions } from './unsaved-uses.ts'

export interface CallerNamesOptions extends FlushOptions {
  readonly names: Pick<CallerNameStore, 'write'>
  readonly hashKeys: Pick<AttributionRegistry, 'checkOf'>
  readonly clock?: Pick<Clock, 'now'>
}

const DAY_MS = 24 * 3_600_000
/** Names remembered as seen today, of all accounts. A full memory is cleared. */
const MOST_SEEN = 100_000
/** Names that wait for the store. Further names are dropped until their next call. */
const MOST_WAITING = 100_000

export class CallerNames {
  readonly #options: CallerNamesOptions
  readonly #clock: Pick<Clock, 'now'>
  readonly #flight = new SingleFlight(() => this.#write())
  readonly #tagValues = new Map<AccountId, Map<string, Set<string>>>()
  #day = 0
  #seen = new Map<AccountId, Set<string>>()
  #seenCount = 0
  #waiting: CallerName[] = []
  #stop = (): void => {}

  constructor(options: CallerNamesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#startDay()
  }

  start(): void {
    const { flushIntervalMs = 5_000, onFlushFailure = () => {} } = this.#options
    this.#stop = systemClock.every(flushIntervalMs, () => {
      this.#startDay()
      void this.flush().catch(onFlushFailure)
    })
  }

  note(accountId: AccountId, kind: NamedKind, hash: string, name: string | undefined): void {
    const seen = this.#seen.get(accountId)
    if (seen?.has(hash) === true || this.#waiting.length >= MOST_WAITING) return
    if (this.#seenCount >= MOST_SEEN) this.#forgetSeen()
    if (seen === undefined || this.#seenCount === 0) this.#seen.set(accountId, new Set([hash]))
    else seen.add(hash)
    this.#seenCount += 1
    this.#waiting.push({ accountId, kind, hash, name, noted: this.#noteOf(accountId, hash) })
  }

  #noteOf(accountId: AccountId, hash: string): NotedAt | undefined {
    if (!hash.startsWith(END_USER)) return undefined
    return { atMs: this.#clock.now(), isUnder: this.#options.hashKeys.checkOf(accountId) }
  }

  takesTagValue(accountId: AccountId, tag: string, value: string): boolean {
    const ofAccount = this.#tagValues.get(accountId) ?? new Map<string, Set<string>>()
    const values = ofAccount.get(tag) ?? new Set<string>()
    if (values.has(value)) return true
    if (values.size >= MOST_TAG_VALUES) return false
    this.#tagValues.set(accountId, ofAccount.set(tag, values.add(value)))
    return true
  }

  /** On failure the names stay pending, and the error is thrown. */
  flush(): Promise<void> {
    return this.#flight.run()
  }

  close(): Promise<void> {
    this.#stop()
    return this.flush().catch(this.#options.onFlushFailure ?? (() => {}))
  }

  async #write(): Promise<void> {
    const names = this.#waiting
    if (names.length === 0) return
    this.#waiting = []
    try {
      await this.#options.names.write(names, this.#day)
    } catch (error) {
      this.#waiting = names.concat(this.#waiting).slice(0, MOST_WAITING)
      throw error
    }
  }

  #startDay(): void {
    const now = this.#clock.now()
    const day = now - (now % DAY_MS)
    if (day === this.#day) return
    this.#day = day
    this.#tagValues.clear()
    this.#forgetSeen()
  }

  #forgetSeen(): void {
    this.#seen = new Map()
    this.#seenCount = 0
  }
}

/**
 * Deadlines for thousands of exchanges at the price of one timer: each is a number in a set that one sweep looks over.
 * A timer per exchange and per chunk would cost more than relaying the chunk. Precision: SWEEP_MS.
 */
import { systemClock, type Timekeeper } from '../core/clock.ts'

/** How often due deadlines are looked for, in milliseconds. */
const SWEEP_MS = 25

/**
 * `shutdown`: the gateway is ending and waits for nothing any more. `revoked`: its owner may not
 * wait any more. `cancelled`: its signal was aborted.
 */
export type DueCause = 'due' | 'shutdown' | 'revoked' | 'cancelled'

export interface Deadline {
  /** On the scale of `Deadlines.now`; set it anew whenever the exchange has made progress. */
  dueAt: number
  /** Names whoever waits; undefined: nobody who could lose the right to. */
  readonly owner?: string | undefined
  /**
   * Aborts when nobody waits any more. The first sweep begins to listen to it: most waits are over
   * by then, and listening costs as much as all else here.
   */
  readonly signal?: AbortSignal | undefined
  readonly onDue: (cause: DueCause) => void
}

export class Deadlines {
  readonly #pending = new Set<Deadline>()
  /** Those that listen to their signals, with what ends it. */
  readonly #listening = new Map<Deadline, () => void>()
  readonly #clock: Timekeeper
  #endSweeps: (() => void) | undefined

  constructor(clock: Timekeeper = systemClock) {
    this.#clock = clock
  }

  /** Milliseconds and parts of them, as deadlines are set in. */
  now(): number {
    return this.#clock.elapsed()
  }

  /** How many waits there are. */
  get size(): number {
    return this.#pending.size
  }

  add(deadline: Deadline): void {
    this.#pending.add(deadline)
    this.#endSweeps ??= this.#clock.every(SWEEP_MS, () => this.#sweep())
  }

  remove(deadline: Deadline): void {
    this.#pending.delete(deadline)
    if (deadline.signal !== undefined) this.#endListening(deadline)
  }

  /** Ends every wait at once, because the gateway is shutting down. */
  expireAll(): void {
    // A copy, because falling due may begin another wait.
    for (const deadline of [...this.#pending]) this.#end(deadline, 'shutdown')
  }

  /** Ends the waits of those owners that are over. */
  revoke(isOver: (owner: string) => boolean): void {
    for (const deadline of [...this.#pending]) {
      if (deadline.owner !== undefined && isOver(deadline.owner)) this.#end(deadline, 'revoked')
    }
  }

  #end(deadline: Deadline, cause: DueCause): void {
    // One that ended before may have ended this one too.
    if (!this.#pending.has(deadline)) return
    this.remove(deadline)
    deadline.onDue(cause)
  }

  #listen(deadline: Deadline, signal: AbortSignal): void {
    const onAbort = () => this.#end(deadline, 'cancelled')
    if (signal.aborted) {
      onAbort()
      return
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#listening.set(deadline, () => signal.removeEventListener('abort', onAbort))
  }

  #endListening(deadline: Deadline): void {
    const end = this.#listening.get(deadline)
    if (end === undefined) return
    this.#listening.delete(deadline)
    end()
  }

  #sweep(): void {
    if (this.#pending.size === 0) {
      this.#endSweeps?.()
      this.#endSweeps = undefined
      return
    }
    const now = this.now()
    for (const deadline of this.#pending) {
      if (deadline.dueAt <= now) this.#end(deadline, 'due')
      else if (deadline.signal !== undefined && !this.#listening.has(deadline))
        this.#listen(deadline, deadline.signal)
    }
  }
}

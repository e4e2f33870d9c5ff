/**
 * Deadlines for thousands of exchanges at the price of one timer: each is a number in a ring that
 * one sweep looks over. A timer per exchange and per chunk would cost more than relaying the chunk.
 * Precision: SWEEP_MS.
 */

import { systemClock, type Timekeeper } from '../core/clock.ts'
import type { LeaveSignal } from './messages.ts'

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
  readonly signal?: LeaveSignal | undefined
  onDue(cause: DueCause): void
  /** Its neighbours while it is pending. For `Deadlines` alone, as is what follows. */
  before?: Deadline | undefined
  after?: Deadline | undefined
  onLeft?: (() => void) | undefined
}

/**
 * A ring of those that are pending: to put one into a set and take it out again costs as much as
 * all else of a small call.
 */
class Ring implements Deadline {
  readonly dueAt = Number.POSITIVE_INFINITY
  before: Deadline = this
  after: Deadline = this
  onDue(): void {}
}

export class Deadlines {
  readonly #pending = new Ring()
  #size = 0
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
    return this.#size
  }

  /** One that is pending already stays so. */
  add(deadline: Deadline): void {
    if (deadline.before === undefined) {
      const last = this.#pending.before
      deadline.before = last
      deadline.after = this.#pending
      last.after = deadline
      this.#pending.before = deadline
      this.#size += 1
    }
    if (this.#endSweeps === undefined) this.#beginSweeps()
  }

  #beginSweeps(): void {
    this.#endSweeps = this.#clock.every(SWEEP_MS, () => this.#sweep())
  }

  remove(deadline: Deadline): void {
    const { before, after, onLeft } = deadline
    if (before === undefined || after === undefined) return
    before.after = after
    after.before = before
    deadline.before = undefined
    deadline.after = undefined
    this.#size -= 1
    if (onLeft !== undefined) {
      deadline.onLeft = undefined
      deadline.signal?.removeEventListener('abort', onLeft)
    }
    if (this.#size > 0) return
    // The sweeps end at once: an empty one would wake the process once more for every single call.
    this.#endSweeps?.()
    this.#endSweeps = undefined
  }

  /** Ends every wait at once, because the gateway is shutting down. */
  expireAll(): void {
    for (const deadline of this.#find(() => true)) this.#end(deadline, 'shutdown')
  }

  /** Ends the waits of those owners that are over. */
  revoke(isOver: (owner: string) => boolean): void {
    const isRevoked = ({ owner }: Deadline) => owner !== undefined && isOver(owner)
    for (const deadline of this.#find(isRevoked)) this.#end(deadline, 'revoked')
  }

  #end(deadline: Deadline, cause: DueCause): void {
    // One that ended before may have ended this one too.
    if (deadline.before === undefined) return
    this.remove(deadline)
    deadline.onDue(cause)
  }

  #listen(deadline: Deadline, signal: LeaveSignal): void {
    if (signal.aborted) {
      this.#end(deadline, 'cancelled')
      return
    }
    deadline.onLeft = () => this.#end(deadline, 'cancelled')
    signal.addEventListener('abort', deadline.onLeft, { once: true })
  }

  /** A list of its own, because falling due may begin another wait, or end one. */
  #find(isWanted: (deadline: Deadline) => boolean): Deadline[] {
    const found: Deadline[] = []
    for (
      let deadline = this.#pending.after;
      deadline !== this.#pending;
      deadline = deadline.after ?? this.#pending
    )
      if (isWanted(deadline)) found.push(deadline)
    return found
  }

  #sweep(): void {
    const now = this.now()
    const isDeaf = ({ signal, onLeft }: Deadline) => signal !== undefined && onLeft === undefined
    for (const deadline of this.#find((pending) => pending.dueAt <= now || isDeaf(pending))) {
      if (deadline.before === undefined) continue
      if (deadline.dueAt <= now) this.#end(deadline, 'due')
      else if (deadline.signal !== undefined) this.#listen(deadline, deadline.signal)
    }
  }
}

/**
 * Deadlines for thousands of exchanges with one timer: a periodic sweep checks a ring of entries. A
 * timer per exchange and chunk would cost more than relaying the chunk.
 */

import { systemClock, type Timekeeper } from '../core/clock.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import type { LeaveSignal } from './messages.ts'

/** Interval between sweeps in milliseconds, and so the precision of all deadlines. */
const SWEEP_MS = 25

/**
 * `shutdown`: the gateway is stopping. `revoked`: the caller may no longer call. `cancelled`: the
 * signal was aborted.
 */
export type DueCause = 'due' | 'shutdown' | 'revoked' | 'cancelled'

/** A call that waits, and whose right to call may end meanwhile. */
export interface WaitingCall {
  readonly caller?:
    | { readonly accountId: AccountId; readonly keyId: KeyId; readonly owner?: string | undefined }
    | undefined
}

export interface Deadline {
  /** On the scale of `Deadlines.now`; renewed whenever the exchange makes progress. */
  dueAt: number
  /** Undefined: the wait does not end with its caller's right to call. */
  readonly owner?: WaitingCall | undefined
  /**
   * Aborts when the wait is no longer needed. Adding a listener is expensive and most waits are
   * short, so the first sweep adds the listener.
   */
  readonly signal?: LeaveSignal | undefined
  /** @param reason for `revoked` */
  onDue(cause: DueCause, reason?: Error): void
  /** Neighbours in the ring while pending, for `Deadlines` only, as are the members below. */
  before?: Deadline | undefined
  after?: Deadline | undefined
  onLeft?: (() => void) | undefined
}

/**
 * A ring of the pending deadlines. Inserting into a set would cost as much as the rest of a small
 * call.
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

  now(): number {
    return this.#clock.elapsed()
  }

  get size(): number {
    return this.#size
  }

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
    // An empty sweep would wake the process once more per call, so sweeps stop immediately.
    this.#endSweeps?.()
    this.#endSweeps = undefined
  }

  /** Ends every wait immediately, because the gateway is shutting down. */
  expireAll(): void {
    for (const deadline of this.#find(() => true)) this.#end(deadline, 'shutdown')
  }

  /**
   * Ends the waits of calls whose caller may no longer call.
   * @param judge gives the reason; undefined: the call may go on
   */
  revoke(judge: (call: WaitingCall) => Error | undefined): void {
    for (const deadline of this.#find(({ owner }) => owner !== undefined)) {
      const reason = deadline.owner === undefined ? undefined : judge(deadline.owner)
      if (reason !== undefined) this.#end(deadline, 'revoked', reason)
    }
  }

  #end(deadline: Deadline, cause: DueCause, reason?: Error): void {
    // Another deadline's callback may have ended this deadline.
    if (deadline.before === undefined) return
    this.remove(deadline)
    deadline.onDue(cause, reason)
  }

  #listen(deadline: Deadline, signal: LeaveSignal): void {
    if (signal.aborted) {
      this.#end(deadline, 'cancelled')
      return
    }
    deadline.onLeft = () => this.#end(deadline, 'cancelled')
    signal.addEventListener('abort', deadline.onLeft, { once: true })
  }

  /** Returns a copy, because a deadline's callback may add or remove others. */
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

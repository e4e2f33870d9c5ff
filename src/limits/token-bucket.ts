/**
 * A token bucket in whole units that refills continuously. A bucket in debt may still admit one call
 * at a time (decision 0100). The step in key-script.ts follows the same rules inside Redis.
 */

/** `ask`: only the shared store knows. */
export type Availability = 'yes' | 'no' | 'ask'

export interface RateBucket {
  readonly view: TokenBucket
  refill(perMinute: number, nowMs: number): void
  has(units: number, nowMs: number, isAlone?: boolean): Availability
  take(units: number): number
  charge(units: number): void
}

/** A limit of n per minute refills n parts each millisecond, so no fraction is lost. */
export const PARTS_PER_UNIT = 60_000
/** Calls are processed at most this much out of order. */
const OVERTAKEN_MS = 60_000
/** The retry time when no limit can be waited for. */
const NEVER_RETRY_MS = 60_000

/**
 * Holds at most a minute's units, which an idle caller may use at once. An infinite limit means no
 * limit. `charge` may leave a debt of at most a minute's units; further use is forgiven.
 */
export class TokenBucket implements RateBucket {
  perMinute: number
  #parts: number
  #asOfMs: number

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute
    this.#parts = perMinute * PARTS_PER_UNIT
    this.#asOfMs = Math.floor(nowMs)
  }

  refill(perMinute: number, nowMs: number): void {
    this.perMinute = perMinute
    const wholeMs = Math.floor(nowMs)
    const elapsedMs = wholeMs - this.#asOfMs
    // Without a limit, zero times infinity would be NaN.
    const gained = elapsedMs > 0 ? elapsedMs * perMinute : 0
    this.#parts = this.#bounded(this.#parts + gained)
    // A call that later calls have overtaken has an earlier time, for which the bucket was already
    // refilled. A much earlier time means that the clock was set back, so refilling restarts from
    // that time.
    if (elapsedMs > 0 || elapsedMs < -OVERTAKEN_MS) this.#asOfMs = wholeMs
  }

  get parts(): number {
    return this.#parts
  }

  assume(parts: number, nowMs: number): void {
    this.#parts = this.#bounded(parts)
    this.#asOfMs = Math.floor(nowMs)
  }

  holds(units: number): boolean {
    return this.#parts >= units * PARTS_PER_UNIT || this.perMinute === Number.POSITIVE_INFINITY
  }

  get view(): this {
    return this
  }

  has(units: number, _nowMs: number, isAlone = false): Availability {
    return this.holds(units) || (isAlone && this.lends(units)) ? 'yes' : 'no'
  }

  get isFull(): boolean {
    return this.#parts >= this.perMinute * PARTS_PER_UNIT
  }

  charge(units: number): void {
    this.#parts = this.#bounded(this.#parts - units * PARTS_PER_UNIT)
  }

  #bounded(parts: number): number {
    const full = this.perMinute * PARTS_PER_UNIT
    return Math.max(-full, Math.min(full, parts))
  }

  /** The number of units owed; 0 without a debt. */
  get debt(): number {
    return Math.max(0, Math.ceil(-this.#parts / PARTS_PER_UNIT))
  }

  /**
   * Whether a bucket in debt allows one more call: the debt must stay within a minute's units. A
   * large call counts as half a minute's units at most.
   */
  lends(units: number): boolean {
    return this.#parts < 0 && this.#partsShortOfLoan(units) <= 0
  }

  #partsShortOfLoan(units: number): number {
    const room = this.#parts + this.perMinute * PARTS_PER_UNIT
    return Math.min(units, this.perMinute / 2) * PARTS_PER_UNIT - room
  }

  take(units: number): number {
    const taken = this.takable(units)
    this.charge(taken)
    return taken
  }

  takable(units: number): number {
    if (this.#parts >= 0) return units
    return Math.min(units, Math.floor(this.#parts / PARTS_PER_UNIT) + this.perMinute)
  }

  get remaining(): number {
    return Math.max(0, Math.floor(this.#parts / PARTS_PER_UNIT))
  }

  waitMsFor(units: number): number {
    if (this.perMinute <= 0) return NEVER_RETRY_MS
    return Math.max(0, Math.ceil((units * PARTS_PER_UNIT - this.#parts) / this.perMinute))
  }

  /**
   * Milliseconds until a call may take this many units.
   * @param othersMs how long the key's other calls probably run; 0 without other calls
   */
  waitMsForCall(units: number, othersMs: number): number {
    const waitMs = this.waitMsFor(units)
    if (this.#parts >= 0 || this.perMinute <= 0) return waitMs
    const untilLentMs = Math.ceil(this.#partsShortOfLoan(units) / this.perMinute)
    return Math.min(waitMs, Math.max(untilLentMs, othersMs))
  }

  get resetMs(): number {
    return this.perMinute > 0 ? this.waitMsFor(this.perMinute) : 0
  }
}

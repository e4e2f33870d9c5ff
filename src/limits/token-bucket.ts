/**
 * A bucket that refills all the time, in whole numbers, and the `x-ratelimit-*` headers that show
 * how full those of a call are. Must not know what it holds, nor who is refused.
 */

/**
 * The parts of one unit. A limit of n per minute refills n of these parts each millisecond, so no
 * fraction is ever lost.
 */
export const PARTS_PER_UNIT = 60_000
/** No two calls that are heard of one after the other are farther apart. */
const OVERTAKEN_MS = 60_000
/** With no limit to wait for, the longest that makes sense to wait. */
const NEVER_RETRY_MS = 60_000

/**
 * Holds one minute's units, so an idle caller may take the whole minute at once, and over any
 * stretch of time takes at most limit + rate × time. A limit that is not finite is no limit, one of
 * 0 holds nothing. `charge` may leave a debt of at most one minute's units; use beyond that is
 * forgiven.
 */
export class TokenBucket {
  perMinute: number
  #parts: number
  #asOfMs: number

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute
    this.#parts = perMinute * PARTS_PER_UNIT
    this.#asOfMs = Math.floor(nowMs)
  }

  /** Brings it up to date; the rate may have changed since. */
  refill(perMinute: number, nowMs: number): void {
    this.perMinute = perMinute
    const wholeMs = Math.floor(nowMs)
    const elapsedMs = wholeMs - this.#asOfMs
    // Without a limit, no time at all times infinity would not be a number.
    const gained = elapsedMs > 0 ? elapsedMs * perMinute : 0
    this.#parts = this.#bounded(this.#parts + gained)
    // A call that others have overtaken comes with a moment that has passed: the time since was
    // given. Farther back, a clock was set back, and nobody is to wait until it has caught up.
    if (elapsedMs > 0 || elapsedMs < -OVERTAKEN_MS) this.#asOfMs = wholeMs
  }

  /** Its content, in parts; negative: a debt. */
  get parts(): number {
    return this.#parts
  }

  /** Takes over what is known of it from elsewhere, as of that moment. */
  assume(parts: number, nowMs: number): void {
    this.#parts = this.#bounded(parts)
    this.#asOfMs = Math.floor(nowMs)
  }

  holds(units: number): boolean {
    return this.#parts >= units * PARTS_PER_UNIT || this.perMinute === Number.POSITIVE_INFINITY
  }

  get isFull(): boolean {
    return this.#parts >= this.perMinute * PARTS_PER_UNIT
  }

  /**
   * Takes units whether they are there or not; a negative number gives back, though never more than
   * it can hold.
   */
  charge(units: number): void {
    this.#parts = this.#bounded(this.#parts - units * PARTS_PER_UNIT)
  }

  #bounded(parts: number): number {
    const full = this.perMinute * PARTS_PER_UNIT
    return Math.max(-full, Math.min(full, parts))
  }

  /** Units that are missing before the bucket is empty; 0: no debt. */
  get debt(): number {
    return Math.max(0, Math.ceil(-this.#parts / PARTS_PER_UNIT))
  }

  /**
   * Whether a bucket in debt has room for one more call: the debt stays within one minute. A large
   * call needs half a minute of room, so it waits no longer than that.
   */
  lends(units: number): boolean {
    return this.#parts < 0 && this.#partsShortOfLoan(units) <= 0
  }

  #partsShortOfLoan(units: number): number {
    const room = this.#parts + this.perMinute * PARTS_PER_UNIT
    return Math.min(units, this.perMinute / 2) * PARTS_PER_UNIT - room
  }

  /** The part of so many units that a call takes: in debt no more than there is room for. */
  takable(units: number): number {
    if (this.#parts >= 0) return units
    return Math.min(units, Math.floor(this.#parts / PARTS_PER_UNIT) + this.perMinute)
  }

  /** Whole units that could be taken now, in debt 0. */
  get remaining(): number {
    return Math.max(0, Math.floor(this.#parts / PARTS_PER_UNIT))
  }

  /** Milliseconds until so many units are there. */
  waitMsFor(units: number): number {
    if (this.perMinute <= 0) return NEVER_RETRY_MS
    return Math.max(0, Math.ceil((units * PARTS_PER_UNIT - this.#parts) / this.perMinute))
  }

  /**
   * Milliseconds until a call may take so many units.
   * @param othersMs how long the key's other calls probably run; 0: there are none
   */
  waitMsForCall(units: number, othersMs: number): number {
    const waitMs = this.waitMsFor(units)
    if (this.#parts >= 0 || this.perMinute <= 0) return waitMs
    const untilLentMs = Math.ceil(this.#partsShortOfLoan(units) / this.perMinute)
    return Math.min(waitMs, Math.max(untilLentMs, othersMs))
  }

  /** Milliseconds until it is full again. */
  get resetMs(): number {
    return this.perMinute > 0 ? this.waitMsFor(this.perMinute) : 0
  }
}

/** The source of the headers of a key, or of an account. */
export interface RateBuckets {
  readonly requests: TokenBucket
  readonly tokens: TokenBucket
}

/** Shared by one key's calls, and by those of all keys of its account. */
export interface CallBuckets {
  readonly key: RateBuckets | undefined
  readonly account?: RateBuckets | undefined
}

/**
 * The headers of OpenAI's API; reset is the time until the bucket is full again. None where there
 * is no limit.
 */
export function toHeaders({ key, account }: CallBuckets): Record<string, string> {
  const headers: Record<string, string> = {}
  if (key !== undefined) {
    addHeaders(headers, OF_REQUESTS, key.requests)
    addHeaders(headers, OF_TOKENS, key.tokens)
  }
  if (account !== undefined) addHeaders(headers, OF_ACCOUNT_REQUESTS, account.requests)
  return headers
}

/** Put together once: for each call they would cost more than their values. */
function toNames(of: string) {
  return {
    limit: `x-ratelimit-limit-${of}`,
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
  }
}

const OF_REQUESTS = toNames('requests')
const OF_TOKENS = toNames('tokens')
const OF_ACCOUNT_REQUESTS = toNames('account-requests')

function addHeaders(
  headers: Record<string, string>,
  { limit, remaining, reset }: ReturnType<typeof toNames>,
  bucket: TokenBucket,
): void {
  if (!Number.isFinite(bucket.perMinute)) return
  headers[limit] = String(bucket.perMinute)
  headers[remaining] = String(bucket.remaining)
  headers[reset] = formatDuration(bucket.resetMs)
}

/** Writes durations like OpenAI: `120ms`, `1s`, `7.66s`, `6m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return durationMs === 0 ? '0s' : `${durationMs}ms`
  const seconds = `${(durationMs % 60_000) / 1000}s`
  const minutes = Math.floor(durationMs / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60
    ? `${minutes}m${seconds}`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

/**
 * A continuously refilled bucket in whole numbers, and the `x-ratelimit-*` headers of a call's
 * buckets. Must not know the units, nor who is refused.
 */

/**
 * Parts per unit. A limit of n per minute refills n parts each millisecond, so no fraction is lost.
 */
export const PARTS_PER_UNIT = 60_000
/** Calls are processed at most this much out of order. */
const OVERTAKEN_MS = 60_000
/** The retry time when there is no limit to wait for. */
const NEVER_RETRY_MS = 60_000

/**
 * Holds one minute's units, so an idle caller may use the whole minute at once; over any period at
 * most limit + rate × time. An infinite limit is none; a limit of 0 holds nothing. `charge` may
 * leave a debt of at most one minute's units; use beyond that is forgiven.
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

  /** Refills up to now; the rate may have changed since. */
  refill(perMinute: number, nowMs: number): void {
    this.perMinute = perMinute
    const wholeMs = Math.floor(nowMs)
    const elapsedMs = wholeMs - this.#asOfMs
    // Without a limit, zero times infinity would be NaN.
    const gained = elapsedMs > 0 ? elapsedMs * perMinute : 0
    this.#parts = this.#bounded(this.#parts + gained)
    // A call that others have overtaken has an earlier time, whose refill was already given. If it
    // is much earlier, the clock was set back, and refilling must not wait until it catches up.
    if (elapsedMs > 0 || elapsedMs < -OVERTAKEN_MS) this.#asOfMs = wholeMs
  }

  /** Its content in parts; negative: a debt. */
  get parts(): number {
    return this.#parts
  }

  /** Sets its content as known from elsewhere, at this time. */
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

  /** Takes units whether available or not; negative: returns units, up to the capacity. */
  charge(units: number): void {
    this.#parts = this.#bounded(this.#parts - units * PARTS_PER_UNIT)
  }

  #bounded(parts: number): number {
    const full = this.perMinute * PARTS_PER_UNIT
    return Math.max(-full, Math.min(full, parts))
  }

  /** Units missing to an empty bucket; 0: no debt. */
  get debt(): number {
    return Math.max(0, Math.ceil(-this.#parts / PARTS_PER_UNIT))
  }

  /**
   * Whether a bucket in debt allows one more call: the debt must stay within one minute. A large
   * call counts as half a minute at most, so it waits no longer than that.
   */
  lends(units: number): boolean {
    return this.#parts < 0 && this.#partsShortOfLoan(units) <= 0
  }

  #partsShortOfLoan(units: number): number {
    const room = this.#parts + this.perMinute * PARTS_PER_UNIT
    return Math.min(units, this.perMinute / 2) * PARTS_PER_UNIT - room
  }

  /** How many of the units a call takes: in debt at most as many as allowed. */
  takable(units: number): number {
    if (this.#parts >= 0) return units
    return Math.min(units, Math.floor(this.#parts / PARTS_PER_UNIT) + this.perMinute)
  }

  /** Whole units available now; in debt 0. */
  get remaining(): number {
    return Math.max(0, Math.floor(this.#parts / PARTS_PER_UNIT))
  }

  /** Milliseconds until this many units are available. */
  waitMsFor(units: number): number {
    if (this.perMinute <= 0) return NEVER_RETRY_MS
    return Math.max(0, Math.ceil((units * PARTS_PER_UNIT - this.#parts) / this.perMinute))
  }

  /**
   * Milliseconds until a call may take this many units.
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

/** The buckets behind the headers of a key or an account. */
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
 * The headers of OpenAI's API; reset is the time until the bucket is full. None without a limit.
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

/** Built once: building them per call would cost more than their values. */
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

/** Formats durations like OpenAI: `120ms`, `1s`, `7.66s`, `6m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return durationMs === 0 ? '0s' : `${durationMs}ms`
  const seconds = `${(durationMs % 60_000) / 1000}s`
  const minutes = Math.floor(durationMs / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60
    ? `${minutes}m${seconds}`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

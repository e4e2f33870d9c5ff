/**
 * Rate limits per API key in this process's memory: requests per minute and concurrent calls.
 * Must not know HTTP, plans or other nodes.
 */
import { type Clock, steadyClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { KeyId } from '../core/ids.ts'
import type { Caller, KeyLimits, Limits, Ticket } from '../gateway/ports.ts'

/** What a request costs. A limit of n per minute refills n of these parts each millisecond, so no fraction is ever lost. */
const PARTS_PER_REQUEST = 60_000
const CONCURRENCY_RETRY_MS = 1000
/** With no limit to wait for, the longest that makes sense to wait. */
const NEVER_RETRY_MS = 60_000
/** Each admission looks at two states, one of which it may have added: idle ones go faster than new ones come. */
const SWEPT_PER_ADMISSION = 2

interface KeyState {
  readonly keyId: KeyId
  requestsPerMinute: number
  /** What is left in the bucket at `asOfMs`. */
  parts: number
  asOfMs: number
  running: number
}

/**
 * A token bucket as OpenAI's users know it: it holds one minute's requests and refills all the time, so a key that was
 * idle may send its whole minute at once, and over any stretch of time is admitted at most limit + rate × time.
 * A refused request takes nothing from it. A limit that is not finite is no limit, one of 0 admits nothing.
 */
export class MemoryLimits implements Limits {
  readonly #clock: Clock
  readonly #states = new Map<KeyId, KeyState>()
  #sweep: Iterator<KeyState> = this.#states.values()

  constructor(clock: Clock = steadyClock) {
    this.#clock = clock
  }

  /** How many keys are in memory: those with a running call or a bucket that is not full, and a few not swept yet. */
  get trackedKeys(): number {
    return this.#states.size
  }

  /** @throws GatewayError `rate_limited`, with `retry-after`, `retry-after-ms` and the `x-ratelimit-*` headers. */
  admit(caller: Caller): Ticket {
    const nowMs = this.#clock.now()
    this.#sweepIdle(nowMs)
    const { limits, keyId } = caller
    const state = this.#states.get(keyId) ?? this.#createState(keyId, limits, nowMs)
    state.requestsPerMinute = limits.requestsPerMinute
    refill(state, nowMs)
    if (state.parts < PARTS_PER_REQUEST && Number.isFinite(limits.requestsPerMinute)) {
      throw tooManyRequests(state)
    }
    if (state.running >= limits.concurrentCalls) throw tooManyConcurrent(state, limits)
    state.parts -= PARTS_PER_REQUEST
    state.running += 1
    return new MemoryTicket(state)
  }

  #createState(keyId: KeyId, limits: KeyLimits, nowMs: number): KeyState {
    const { requestsPerMinute } = limits
    const state = { keyId, requestsPerMinute, parts: capacity(requestsPerMinute), asOfMs: nowMs, running: 0 }
    this.#states.set(keyId, state)
    return state
  }

  /** A state that says nothing more than a new one would is dropped, a few at a time: no timer, no long pause. */
  #sweepIdle(nowMs: number): void {
    for (let looked = 0; looked < SWEPT_PER_ADMISSION; looked += 1) {
      const { value: state, done } = this.#sweep.next()
      if (done === true) {
        this.#sweep = this.#states.values()
        return
      }
      if (state.running > 0) continue
      refill(state, nowMs)
      if (state.parts >= capacity(state.requestsPerMinute)) this.#states.delete(state.keyId)
    }
  }
}

class MemoryTicket implements Ticket {
  readonly headers: Readonly<Record<string, string>>
  #state: KeyState | undefined

  constructor(state: KeyState) {
    this.headers = toHeaders(state)
    this.#state = state
  }

  release(): void {
    if (this.#state === undefined) return
    this.#state.running -= 1
    this.#state = undefined
  }
}

function capacity(requestsPerMinute: number): number {
  return requestsPerMinute * PARTS_PER_REQUEST
}

function refill(state: KeyState, nowMs: number): void {
  // A clock that was set back gives nothing, and must not make the key wait until it has caught up.
  const elapsedMs = Math.max(0, nowMs - state.asOfMs)
  // Without a limit, no time at all times infinity would not be a number.
  const gained = elapsedMs === 0 ? 0 : elapsedMs * state.requestsPerMinute
  state.parts = Math.min(capacity(state.requestsPerMinute), state.parts + gained)
  state.asOfMs = nowMs
}

function tooManyRequests(state: KeyState): GatewayError {
  const limit = state.requestsPerMinute
  const waitMs = limit > 0 ? Math.ceil((PARTS_PER_REQUEST - state.parts) / limit) : NEVER_RETRY_MS
  return refusal(
    `Rate limit reached for requests per minute: this API key is allowed ${limit}. Please try again in ${waitMs / 1000}s.`,
    state,
    waitMs,
  )
}

function tooManyConcurrent(state: KeyState, limits: KeyLimits): GatewayError {
  return refusal(
    `Rate limit reached for concurrent calls: this API key is allowed ${limits.concurrentCalls} at a time. Please try again in ${CONCURRENCY_RETRY_MS / 1000}s.`,
    state,
    CONCURRENCY_RETRY_MS,
  )
}

function refusal(message: string, state: KeyState, waitMs: number): GatewayError {
  return new GatewayError('rate_limited', message, {
    headers: {
      'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))),
      'retry-after-ms': String(waitMs),
      ...toHeaders(state),
    },
  })
}

/** The headers of OpenAI's API; reset is the time until the bucket is full again. Empty where there is no limit. */
function toHeaders(state: KeyState): Record<string, string> {
  const limit = state.requestsPerMinute
  if (!Number.isFinite(limit)) return {}
  const missing = capacity(limit) - state.parts
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(Math.floor(state.parts / PARTS_PER_REQUEST)),
    'x-ratelimit-reset-requests': formatDuration(limit > 0 ? Math.ceil(missing / limit) : 0),
  }
}

/** As OpenAI writes durations: `120ms`, `1s`, `7.66s`, `6m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return durationMs === 0 ? '0s' : `${durationMs}ms`
  const seconds = `${(durationMs % 60_000) / 1000}s`
  const minutes = Math.floor(durationMs / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

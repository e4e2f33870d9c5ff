/**
 * Limits attempts to sign in or up per person and network address: a guesser at one address waits
 * longer and longer, while the person can still sign in from another address.
 */
import { hash } from 'node:crypto'
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { networkOf } from '../core/http.ts'
import { grownMs } from '../core/retry-delay.ts'
import type { SignInTries, SignInTriesStore } from '../store/users/sign-in-tries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const WINDOW_MS = 15 * MINUTE_MS

/** Attempts per email and network address before the first wait. */
const FREE_TRIES = 10
const LONGEST_WAIT_MS = 15 * MINUTE_MS
/** Doubles with each further failure. */
const WAITS = { firstMs: 30_000, longestMs: LONGEST_WAIT_MS }
/** How long the gateway remembers a network address where the person has signed in. */
const PROVEN_FOR_MS = 30 * DAY_MS

/**
 * Attempts per network address, for new users and users who have never signed in at the address.
 */
const PER_ADDRESS = 50
/** Requests of a network address per minute, before their bodies are read. */
const REQUESTS_PER_MINUTE = 300

interface Attempt {
  succeed(): Promise<void>
}

interface SignInAttemptsOptions {
  readonly tries: Pick<SignInTriesStore, 'change' | 'deleteExpired'>
  readonly clock?: Clock
}

export class SignInAttempts {
  readonly #tries: SignInAttemptsOptions['tries']
  readonly #clock: Clock
  readonly #byAddress = new Throttle({ attempts: PER_ADDRESS, windowMs: WINDOW_MS })
  readonly #requests = new Throttle({ attempts: REQUESTS_PER_MINUTE, windowMs: MINUTE_MS })

  constructor({ tries, clock = systemClock }: SignInAttemptsOptions) {
    this.#tries = tries
    this.#clock = clock
  }

  beginRequest(address: string | undefined): void {
    const waitMs = this.#requests.take(networkOf(address ?? 'unknown'))
    if (waitMs > 0) throw tooMany(waitMs)
  }

  /**
   * Counts an attempt in advance, so that concurrent attempts count too.
   * @param email lower case
   * @throws GatewayError `rate_limited` with `retry-after` (rejects), equally for emails without a
   * user
   */
  async begin(email: string, address: string | undefined): Promise<Attempt> {
    const network = networkOf(address ?? 'unknown')
    const now = this.#clock.now()
    let isCounted = false
    await this.#tries.change(toName(email, network), now, (held) => {
      const waitMs = waitOf(held, now)
      if (waitMs > 0) throw tooMany(waitMs)
      // Other users at the same address do not affect a person who has signed in there before.
      if (held?.isProven !== true) {
        const networkWaitMs = this.#byAddress.take(network)
        if (networkWaitMs > 0) throw tooMany(networkWaitMs)
        isCounted = true
      }
      return countTry(held, now)
    })
    return {
      succeed: async () => {
        if (isCounted) this.#byAddress.giveBack(network)
        await this.prove(email, address)
      },
    }
  }

  async prove(email: string, address: string | undefined): Promise<void> {
    const now = this.#clock.now()
    await this.#tries.change(toName(email, networkOf(address ?? 'unknown')), now, () => ({
      wrong: 0,
      waitsUntil: 0,
      isProven: true,
      forgetAt: now + PROVEN_FOR_MS,
    }))
  }

  beginSignUp(address: string | undefined): void {
    const waitMs = this.#byAddress.take(networkOf(address ?? 'unknown'))
    if (waitMs > 0) throw tooMany(waitMs)
  }

  async deleteExpired(): Promise<void> {
    await this.#tries.deleteExpired(this.#clock.now())
  }
}

function waitOf(held: SignInTries | undefined, now: number): number {
  if (held === undefined) return 0
  const waitMs = held.waitsUntil - now
  // Another clock, or this clock before a change, may have set a time far ahead, which nobody
  // should wait for.
  return waitMs > 2 * LONGEST_WAIT_MS ? 0 : Math.min(waitMs, LONGEST_WAIT_MS)
}

function countTry(held: SignInTries | undefined, now: number): SignInTries {
  const wrong = (held?.wrong ?? 0) + 1
  // No jitter, because the refusal states the exact time of the next attempt.
  const waitMs = wrong < FREE_TRIES ? 0 : grownMs(wrong - FREE_TRIES, WAITS)
  const isProven = held?.isProven === true
  const forgetAt = now + (wrong < FREE_TRIES ? WINDOW_MS : DAY_MS)
  return {
    wrong,
    waitsUntil: now + waitMs,
    isProven,
    forgetAt: isProven ? Math.max(forgetAt, held.forgetAt) : forgetAt,
  }
}

/** The name of a person at an address, hashed so that a reader of the database learns neither. */
function toName(email: string, network: string): string {
  return hash('sha256', `${email}\0${network}`, 'hex')
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000)
  return new GatewayError('rate_limited', `Too many attempts. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

interface ThrottleOptions {
  readonly attempts: number
  readonly windowMs: number
  readonly maxNames?: number
  readonly now?: () => number
}

interface Window {
  count: number
  readonly endsAt: number
}

const DEFAULT_MAX_NAMES = 10_000

export class Throttle {
  readonly #options: ThrottleOptions
  readonly #maxNames: number
  readonly #now: () => number
  /**
   * Ordered by the ends of their windows: windows have the same length, and new windows are added
   * last.
   */
  readonly #windows = new Map<string, Window>()

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#maxNames = options.maxNames ?? DEFAULT_MAX_NAMES
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * Counts an attempt in advance, so that concurrent attempts count too.
   * @returns 0, or how many milliseconds the name has to wait
   */
  take(name: string): number {
    const now = this.#now()
    const window = this.#windows.get(name)
    if (window === undefined || window.endsAt <= now) {
      this.#windows.delete(name)
      this.#makeRoom(now)
      this.#windows.set(name, { count: 1, endsAt: now + this.#options.windowMs })
      return 0
    }
    if (window.count >= this.#options.attempts) return window.endsAt - now
    window.count += 1
    return 0
  }

  giveBack(name: string): void {
    const window = this.#windows.get(name)
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  get size(): number {
    return this.#windows.size
  }

  #makeRoom(now: number): void {
    for (const [name, window] of this.#windows) {
      if (window.endsAt > now && this.#windows.size < this.#maxNames) return
      this.#windows.delete(name)
    }
  }
}

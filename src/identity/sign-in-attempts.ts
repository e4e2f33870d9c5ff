/**
 * How often one may try to sign in or up. A person is guarded at each place by itself: whoever
 * guesses at one place waits longer and longer there, and the person signs in from another place as
 * ever. Knows no password.
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

/** Of one email address at one network address, before the first wait. */
const FREE_TRIES = 10
const LONGEST_WAIT_MS = 15 * MINUTE_MS
/** Doubled with each further wrong try. */
const WAITS = { firstMs: 30_000, longestMs: LONGEST_WAIT_MS }
/** How long a place is remembered at which the person has signed in. */
const PROVEN_FOR_MS = 30 * DAY_MS

/**
 * Of one network address, for whatever users that have never signed in there; and for new users.
 */
const PER_ADDRESS = 50
/** Requests of one network address in a minute, before anything of them is read. */
const REQUESTS_PER_MINUTE = 300

interface Attempt {
  /**
   * It was no guess: the person begins anew at this place, and the network address gets its try
   * back.
   */
  succeed(): Promise<void>
}

interface SignInAttemptsOptions {
  /** Shared by all nodes. */
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

  /**
   * Before the body is read, whatever it asks for.
   * @throws GatewayError `rate_limited` with `retry-after`
   */
  beginRequest(address: string | undefined): void {
    const waitMs = this.#requests.take(networkOf(address ?? 'unknown'))
    if (waitMs > 0) throw tooMany(waitMs)
  }

  /**
   * Counts a try beforehand, so that tries side by side count too.
   * @param email lower case
   * @throws GatewayError `rate_limited` with `retry-after` (rejects), alike for addresses that no
   * user has
   */
  async begin(email: string, address: string | undefined): Promise<Attempt> {
    const network = networkOf(address ?? 'unknown')
    const now = this.#clock.now()
    let isCounted = false
    await this.#tries.change(toName(email, network), now, (held) => {
      const waitMs = waitOf(held, now)
      if (waitMs > 0) throw tooMany(waitMs)
      // Others at the same place have no say over a person who has signed in there before.
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

  /** The person has signed in, or signed up, at this place. */
  async prove(email: string, address: string | undefined): Promise<void> {
    const now = this.#clock.now()
    await this.#tries.change(toName(email, networkOf(address ?? 'unknown')), now, () => ({
      wrong: 0,
      waitsUntil: 0,
      isProven: true,
      forgetAt: now + PROVEN_FOR_MS,
    }))
  }

  /**
   * Counts against the network address alone, and for good: each one may create a user.
   * @throws GatewayError `rate_limited`
   */
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
  // Set by another node's clock, or this one's of a while ago: a little ahead, or so far that
  // nobody may wait for it.
  return waitMs > 2 * LONGEST_WAIT_MS ? 0 : Math.min(waitMs, LONGEST_WAIT_MS)
}

function countTry(held: SignInTries | undefined, now: number): SignInTries {
  const wrong = (held?.wrong ?? 0) + 1
  // No jitter: the refusal says exactly when the next try may come.
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

/** Of a person at a place; a reader of the database learns neither. */
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
  /** How many attempts a name has within the window. */
  readonly attempts: number
  readonly windowMs: number
  /** How many names are kept; the one whose window ends first goes first. */
  readonly maxNames?: number
  /** Milliseconds since any fixed point. */
  readonly now?: () => number
}

interface Window {
  count: number
  readonly endsAt: number
}

const DEFAULT_MAX_NAMES = 10_000

/**
 * Counts attempts by name (an address, an email) in a window of time. Its memory is bounded; it
 * knows nothing of what is tried.
 */
export class Throttle {
  readonly #options: ThrottleOptions
  readonly #maxNames: number
  readonly #now: () => number
  /**
   * In the order in which their windows end: each is as long as the other, and a name that comes
   * anew is put last.
   */
  readonly #windows = new Map<string, Window>()

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#maxNames = options.maxNames ?? DEFAULT_MAX_NAMES
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * Counts an attempt beforehand, so that attempts side by side count too.
   * @returns 0, or for how many ms the name has to wait
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

  /** Takes one attempt back: it was none. */
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

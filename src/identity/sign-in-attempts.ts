/** How often one may try to sign in or up: per email address and per network address. Knows no password. */
import { GatewayError } from '../core/errors.ts'
import { Throttle } from './throttle.ts'

const WINDOW_MS = 15 * 60_000
/** Of one email address, from wherever: whoever guesses has 40 tries an hour. */
const PER_EMAIL = 10
/** Of one network address, for whatever users: an office behind one address has to live with it. */
const PER_ADDRESS = 50

export interface Attempt {
  /** It was no guess: the email address begins anew, and the network address gets its try back. */
  succeed(): void
}

export class SignInAttempts {
  readonly #byEmail = new Throttle({ attempts: PER_EMAIL, windowMs: WINDOW_MS })
  readonly #byAddress = new Throttle({ attempts: PER_ADDRESS, windowMs: WINDOW_MS })

  /** @param email lower case. @throws GatewayError `rate_limited` with `retry-after`, alike for addresses that no user has */
  begin(email: string, address: string | undefined): Attempt {
    const network = toNetwork(address)
    const waitMs = this.#byAddress.take(network) || this.#byEmail.take(email)
    if (waitMs > 0) throw tooMany(waitMs)
    return {
      succeed: () => {
        this.#byEmail.forget(email)
        this.#byAddress.giveBack(network)
      },
    }
  }

  /** Counts against the network address alone, and for good: each one may make a user. @throws GatewayError `rate_limited` */
  beginSignUp(address: string | undefined): void {
    const waitMs = this.#byAddress.take(toNetwork(address))
    if (waitMs > 0) throw tooMany(waitMs)
  }
}

/** An IPv6 customer has a /64 at the least: its addresses are one. */
function toNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000)
  return new GatewayError('rate_limited', `Too many attempts. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

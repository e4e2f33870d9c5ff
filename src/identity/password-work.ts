/**
 * Bounds what hashing passwords may cost at once: each one takes 32 MB and a core for a while.
 * Knows no password rules.
 */
import { GatewayError } from '../core/errors.ts'

const AT_ONCE = 2
const MOST_WAITING = 64

export class PasswordWork {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /**
   * Runs `work` when there is room.
   * @throws GatewayError `rate_limited` when too many wait already
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MOST_WAITING) {
        throw new GatewayError(
          'rate_limited',
          'Too many people sign in at this moment. Try again.',
          {
            headers: { 'retry-after': '5' },
          },
        )
      }
      // The one that leaves hands its place over, so that nobody comes in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

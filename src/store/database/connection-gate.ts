/**
 * Limits new connections while the database is unavailable: one attempt at a time, with growing
 * pauses, so that nodes do not overload a database that returns.
 */
import { backoffMs } from '../../core/retry-delay.ts'

const PAUSES = { firstMs: 100, longestMs: 1_000 }

export interface ConnectionGateOptions {
  readonly maxWaiting: number
  /**
   * Whether an error means that the database is unavailable, rather than that all connections are
   * in use.
   */
  readonly isAway: (error: unknown) => boolean
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
  readonly random?: () => number
}

export class TooManyWaitingError extends Error {
  override readonly name = 'TooManyWaitingError'
  readonly code = '53300'
}

export class ConnectionGate {
  readonly #options: ConnectionGateOptions
  readonly #now: () => number
  readonly #random: () => number
  #away:
    | { readonly error: unknown; readonly failures: number; readonly retryAtMs: number }
    | undefined
  #isTrying = false
  #waiting = 0

  constructor(options: ConnectionGateOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#random = options.random ?? Math.random
  }

  async pass<Connection>(
    connect: () => Promise<Connection>,
    hasIdle: boolean,
  ): Promise<Connection> {
    if (this.#waiting >= this.#options.maxWaiting)
      throw new TooManyWaitingError('too many wait for a connection already')
    const away = this.#away
    const isTrial = away !== undefined && !hasIdle
    if (isTrial) {
      if (this.#isTrying || this.#now() < away.retryAtMs) throw away.error
      this.#isTrying = true
    }
    this.#waiting += 1
    try {
      const connection = await connect()
      this.#away = undefined
      return connection
    } catch (error) {
      // Attempts that started together fail together, and count as one failure.
      if (this.#options.isAway(error) && (isTrial || this.#away === undefined)) this.#fail(error)
      throw error
    } finally {
      this.#waiting -= 1
      if (isTrial) this.#isTrying = false
    }
  }

  #fail(error: unknown): void {
    const failures = (this.#away?.failures ?? 0) + 1
    const pauseMs = backoffMs(failures - 1, PAUSES, this.#random)
    this.#away = { error, failures, retryAtMs: this.#now() + pauseMs }
  }
}

/**
 * Decides whether a database may be asked for one more connection: while it is away one attempt at
 * a time, after pauses that grow, so that nodes do not fall over it together when it comes back.
 * Must not know which database it is.
 */
import { backoffMs } from '../../core/retry-delay.ts'

const PAUSES = { firstMs: 100, longestMs: 1_000 }

export interface ConnectionGateOptions {
  /** More than that wait for a connection: what comes then is refused at once. */
  readonly maxWaiting: number
  /**
   * The meaning of an error of the attempt: the database is away, or only all connections are in
   * use.
   */
  readonly isAway: (error: unknown) => boolean
  /** Milliseconds, steady. */
  readonly now?: () => number
  /** Uniform in [0, 1). */
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

  /**
   * @param hasIdle one that is open is there: it needs no new one
   * @throws what the attempt threw; without an attempt TooManyWaitingError, or what the last
   * attempt threw
   */
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
      // Those that set out together fail together, and count as one.
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

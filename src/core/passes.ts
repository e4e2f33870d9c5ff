/**
 * A job that is done again and again, with a pause from the end of one pass to the beginning of the
 * next. Must not know the job. Jobs at an even pace: `Timekeeper.every`.
 */

const HOUR_MS = 3_600_000

interface PassesOptions {
  readonly pass: () => Promise<unknown>
  /** From the start to the first pass. */
  readonly firstMs: number
  readonly pauseMs: number
  readonly onFailure: (error: unknown) => void
}

export class Passes {
  readonly #options: PassesOptions
  #stopping = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined

  constructor(options: PassesOptions) {
    this.#options = options
  }

  /** Aborted: a pass should come to its end. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Keeps no process alive. */
  start(): void {
    this.#stopping = new AbortController()
    this.#schedule(this.#options.firstMs)
  }

  /** Waits for the pass that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(delayMs: number): void {
    const { pass, pauseMs, onFailure } = this.#options
    this.#timer = setTimeout(() => {
      this.#running = pass()
        .then(() => {}, onFailure)
        .finally(() => {
          if (!this.signal.aborted) this.#schedule(pauseMs)
        })
    }, delayMs)
    this.#timer.unref()
  }
}

export interface HourlyOptions {
  readonly onFailure: (error: unknown) => void
  /** Default an hour. */
  readonly intervalMs?: number
}

/**
 * Passes that are an hour apart, if not told otherwise; the first comes after a sixtieth of that, so
 * that it never competes with a start.
 */
export abstract class HourlyWork {
  readonly #passes: Passes

  constructor({ onFailure, intervalMs = HOUR_MS }: HourlyOptions) {
    const pass = () => this.run()
    this.#passes = new Passes({ pass, firstMs: intervalMs / 60, pauseMs: intervalMs, onFailure })
  }

  /** One pass. */
  abstract run(): Promise<unknown>

  start(): void {
    this.#passes.start()
  }

  /** Ends a pass after the batch that it is at. */
  stop(): Promise<void> {
    return this.#passes.stop()
  }

  /** Aborted: a pass ends after the batch that it is at. */
  protected get signal(): AbortSignal {
    return this.#passes.signal
  }
}

/**
 * A job that repeats with a pause between two passes. For jobs at an even pace see
 * `Timekeeper.every`.
 */

const HOUR_MS = 3_600_000

interface PassesOptions {
  readonly pass: () => Promise<unknown>
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

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Does not keep the process alive. */
  start(): void {
    this.#stopping = new AbortController()
    this.#schedule(this.#options.firstMs)
  }

  /** Waits for the pass in progress. */
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
  readonly intervalMs?: number
}

/**
 * Hourly passes by default. The first pass comes after a sixtieth of the interval, so it does not
 * compete with the start of the process.
 */
export abstract class HourlyWork {
  readonly #passes: Passes

  constructor({ onFailure, intervalMs = HOUR_MS }: HourlyOptions) {
    const pass = () => this.run()
    this.#passes = new Passes({ pass, firstMs: intervalMs / 60, pauseMs: intervalMs, onFailure })
  }

  abstract run(): Promise<unknown>

  start(): void {
    this.#passes.start()
  }

  /** Ends a pass after its current batch. */
  stop(): Promise<void> {
    return this.#passes.stop()
  }

  protected get signal(): AbortSignal {
    return this.#passes.signal
  }
}

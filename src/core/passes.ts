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

/**
 * An hour apart, if not told otherwise; the first comes after a sixtieth of that, so that it never
 * competes with a start.
 */
export function hourlyPasses(
  pass: () => Promise<unknown>,
  {
    intervalMs = HOUR_MS,
    onFailure,
  }: { readonly intervalMs?: number; readonly onFailure: (error: unknown) => void },
): Passes {
  return new Passes({ pass, firstMs: intervalMs / 60, pauseMs: intervalMs, onFailure })
}

/** How late the event loop was, looked at twice a second and remembered for a minute. */

const INTERVAL_MS = 500
const REMEMBERED = 120

export class EventLoopLag {
  readonly #lags = new Float64Array(REMEMBERED)
  readonly #timer: ReturnType<typeof setInterval>
  #index = 0
  #expectedAt = performance.now() + INTERVAL_MS

  constructor() {
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS)
    // Nobody waits for it: it must not keep a process alive.
    this.#timer.unref()
  }

  /** Of the last minute, in milliseconds. */
  longestMs(): number {
    return Math.max(...this.#lags)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    this.#lags[this.#index] = Math.max(0, now - this.#expectedAt)
    this.#index = (this.#index + 1) % REMEMBERED
    this.#expectedAt = now + INTERVAL_MS
  }
}

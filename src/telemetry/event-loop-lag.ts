/** How late the event loop was, looked at twice a second and remembered for a minute. */
import { systemClock } from '../core/clock.ts'

const INTERVAL_MS = 500
const REMEMBERED = 120

export class EventLoopLag {
  readonly #lags = new Float64Array(REMEMBERED)
  readonly #endLooking: () => void
  #index = 0
  #expectedAt = performance.now() + INTERVAL_MS

  constructor() {
    this.#endLooking = systemClock.every(INTERVAL_MS, () => this.#look())
  }

  /** Of the last minute, in milliseconds. */
  longestMs(): number {
    return Math.max(...this.#lags)
  }

  stop(): void {
    this.#endLooking()
  }

  #look(): void {
    const now = performance.now()
    this.#lags[this.#index] = Math.max(0, now - this.#expectedAt)
    this.#index = (this.#index + 1) % REMEMBERED
    this.#expectedAt = now + INTERVAL_MS
  }
}

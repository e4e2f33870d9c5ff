/**
 * How soon a worker that ended has a successor, and when there is no point in another. Knows no
 * process.
 */
import { backoffMs } from '../core/retry-delay.ts'

/**
 * A worker that ends sooner than this after its start has failed quickly: whatever ended it is
 * still there, most likely.
 */
const QUICK_MS = 10_000
const DELAYS = { firstMs: 200, longestMs: 10_000 }
/** So many quick failures in a row of every worker are some seconds of trying. */
const MOST_QUICK_FAILURES = 5

export class RestartSchedule {
  /** In a row, by worker. */
  readonly #quickFailures: Map<number, number>
  readonly #random: () => number

  /** @param random uniform in [0, 1) */
  constructor(workers: readonly number[], random: () => number = Math.random) {
    this.#quickFailures = new Map(workers.map((worker) => [worker, 0]))
    this.#random = random
  }

  /**
   * Exponential, from half to the whole of the capped value, so that workers do not return to a
   * sick database together.
   * @returns milliseconds to wait
   */
  ended(worker: number, livedMs: number): number {
    const failures = livedMs < QUICK_MS ? (this.#quickFailures.get(worker) ?? 0) + 1 : 0
    this.#quickFailures.set(worker, failures)
    return backoffMs(Math.max(0, failures - 1), DELAYS, this.#random)
  }

  /** Whether every worker has only failed quickly, again and again. */
  get isHopeless(): boolean {
    return [...this.#quickFailures.values()].every((failures) => failures >= MOST_QUICK_FAILURES)
  }
}

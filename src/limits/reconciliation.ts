/**
 * Decides when nodes with shared counters count the ledger again, because only the ledger knows
 * usage that a killed node had not reported or that the store has lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The first delay is long enough for every node to reconnect and report, and for the journal of the
 * affected node to be shipped.
 */
const DELAYS_MS = [6_000, 12_000, 60_000, 300_000]
/** Without events, the maximum share of time spent reading. */
const LARGEST_SHARE = 0.01

export interface ReconciliationOptions {
  readonly reconcile: () => Promise<void>
  readonly onFailure: (error: unknown) => void
  readonly delaysMs?: readonly [number, ...number[]]
}

export class Reconciliation {
  readonly #options: ReconciliationOptions
  readonly #delaysMs: readonly number[]
  #waiting: AbortController | undefined
  #isStopped = false
  #isFirst = false
  #beginsAgain = false

  constructor(options: ReconciliationOptions) {
    this.#options = options
    this.#delaysMs = options.delaysMs ?? DELAYS_MS
  }

  /** Starts the reads after an event, with a random delay so that not all nodes read at once. */
  begin(): void {
    // A steady series of events must not delay the reads forever.
    if (this.#isFirst) {
      this.#beginsAgain = true
      return
    }
    this.stop()
    this.#isStopped = false
    const waiting = new AbortController()
    this.#waiting = waiting
    void this.#goOn(waiting.signal)
  }

  stop(): void {
    this.#waiting?.abort()
    this.#isStopped = true
    this.#isFirst = false
  }

  async #goOn(signal: AbortSignal): Promise<void> {
    let leastMs = 0
    for (let round = 0; ; round += 1) {
      this.#isFirst = round === 0
      const last = this.#delaysMs.length - 1
      const usualMs = this.#delaysMs[Math.min(round, last)] ?? 0
      const delayMs =
        (round < last ? usualMs : Math.max(usualMs, leastMs)) * (0.75 + Math.random() / 2)
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      this.#isFirst = false
      const startedAtMs = performance.now()
      await this.#options.reconcile().catch((error) => {
        if (!this.#isStopped) this.#options.onFailure(error)
      })
      leastMs = (performance.now() - startedAtMs) / LARGEST_SHARE
      if (this.#beginsAgain) round = -1
      this.#beginsAgain = false
    }
  }
}

/**
 * When to read the ledger anew, where several nodes count together: what a node that was killed had
 * told nobody, or what the store has lost, is known from the ledger alone. Must not know how it is
 * read.
 *
 * Under load the ledger is behind the counters by what is not shipped yet, and may say nothing new;
 * so it is asked again.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Soon after something happened, when every node has the store again and has told it what it had to
 * tell, and the journal of the node that it happened to is shipped; then more and more seldom.
 */
const DELAYS_MS = [6_000, 12_000, 60_000, 300_000]
/**
 * When nothing happens, at most this part of the time is spent on it, however much there is to
 * read.
 */
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

  /** Something happened: not all nodes in the same moment, and from then on again and again. */
  begin(): void {
    // A steady run of events must not put it off.
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

/**
 * Yields the event loop to calls during long work. A call passes the loop several times, so the
 * work rests longer than it works while calls are served.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { callsUnderWay } from './calls-under-way.ts'

/** Work between two rests while calls are served, in milliseconds. */
const WORK_MS = 0.5
const REST_MS = 1

export class LoopTurns {
  readonly #restMs: number
  readonly #signal: AbortSignal | undefined
  #sinceRestMs = 0
  #beganAt = performance.now()

  /** @param signal ends the work: the next step throws the signal's reason */
  constructor(restMs = REST_MS, signal?: AbortSignal) {
    this.#restMs = restMs
    this.#signal = signal
  }

  async next(): Promise<void> {
    const now = performance.now()
    this.#sinceRestMs += now - this.#beganAt
    const isRestDue = this.#sinceRestMs >= WORK_MS && this.#restMs > 0
    if (isRestDue && callsUnderWay.areServed(now)) {
      await Bun.sleep(this.#restMs)
      this.#sinceRestMs = 0
    } else await nextTurn()
    this.begin()
  }

  /** Starts a step, so time spent waiting before the step does not count as work. */
  begin(): void {
    this.#signal?.throwIfAborted()
    this.#beganAt = performance.now()
  }
}

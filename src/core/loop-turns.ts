/**
 * The turns of the event loop that a long piece of work gives to calls. A call passes the loop
 * several times, and would wait for a step of the work each time: work that goes on for long rests
 * as much as it works. Must not know what the work is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface LoopTurnsOptions {
  /**
   * Of the event loop: what needs more of it is waited for in any case, and begins to rest.
   * Default 10.
   */
  readonly unrestedMs?: number
  /** After so much work it rests for a millisecond. Default 1. */
  readonly workMs?: number
}

/** The shortest that a timer knows. */
const REST_MS = 1

export class LoopTurns {
  readonly #workMs: number
  #sinceRestMs: number
  #beganAt = performance.now()

  constructor({ unrestedMs = 10, workMs = REST_MS }: LoopTurnsOptions = {}) {
    this.#workMs = workMs
    this.#sinceRestMs = -unrestedMs
  }

  /** Awaited between two steps. */
  async next(): Promise<void> {
    this.#sinceRestMs += performance.now() - this.#beganAt
    if (this.#sinceRestMs < this.#workMs) await nextTurn()
    else {
      await Bun.sleep(REST_MS)
      this.#sinceRestMs = 0
    }
    this.begin()
  }

  /** A step begins: whatever was awaited until now held nobody up. */
  begin(): void {
    this.#beganAt = performance.now()
  }
}

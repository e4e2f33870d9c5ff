/**
 * The turns of the event loop that a long piece of work gives to calls. A call passes the loop
 * several times, and would wait for a step of the work each time: work that goes on for long rests
 * as much as it works. Must not know what the work is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Of the event loop: what needs more of it is waited for in any case. */
const UNRESTED_MS = 10
/** The shortest that a timer knows. */
const REST_MS = 1

export class LoopTurns {
  #sinceRestMs = -UNRESTED_MS
  #beganAt = performance.now()

  /** Awaited between two steps. */
  async next(): Promise<void> {
    this.#sinceRestMs += performance.now() - this.#beganAt
    if (this.#sinceRestMs < REST_MS) await nextTurn()
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

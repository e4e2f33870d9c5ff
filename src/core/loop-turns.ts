/**
 * The turns of the event loop that a long piece of work gives to calls. A call passes the loop
 * several times, and would wait for a step of the work each time: while calls are served such work
 * rests for longer than it works. Must not know what the work is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { callsUnderWay } from './calls-under-way.ts'

const WORK_MS = 0.5
/** The shortest that a timer knows. */
const REST_MS = 1

export class LoopTurns {
  readonly #workMs: number
  #sinceRestMs = 0
  #beganAt = performance.now()

  /** @param workMs after so much work it rests for a millisecond, while calls are served */
  constructor(workMs = WORK_MS) {
    this.#workMs = workMs
  }

  /** Awaited between two steps. */
  async next(): Promise<void> {
    const now = performance.now()
    this.#sinceRestMs += now - this.#beganAt
    if (this.#sinceRestMs >= this.#workMs && callsUnderWay.areServed(now)) {
      await Bun.sleep(REST_MS)
      this.#sinceRestMs = 0
    } else await nextTurn()
    this.begin()
  }

  /** A step begins: whatever was awaited until now held nobody up. */
  begin(): void {
    this.#beganAt = performance.now()
  }
}

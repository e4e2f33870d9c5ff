/**
 * The turns of the event loop that a long piece of work gives to calls. A call passes the loop
 * several times, and would wait for a step of the work each time: while calls are served such work
 * rests for longer than it works. Must not know what the work is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { callsUnderWay } from './calls-under-way.ts'

/** After so much work it rests, while calls are served. */
const WORK_MS = 0.5
/** The shortest that a timer knows. */
const REST_MS = 1

export class LoopTurns {
  readonly #restMs: number
  #sinceRestMs = 0
  #beganAt = performance.now()

  /** @param restMs 0: others have their turn, and no more than that */
  constructor(restMs = REST_MS) {
    this.#restMs = restMs
  }

  /** Awaited between two steps. */
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

  /** A step begins: whatever was awaited until now held nobody up. */
  begin(): void {
    this.#beganAt = performance.now()
  }
}

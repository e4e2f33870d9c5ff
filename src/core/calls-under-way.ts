/**
 * How many calls this process serves now, for long work on its event loop makes way for them. One
 * for the process, as the loop is. Must not know what a call is.
 */

/** After the last one that began, it is taken to go on for so long. */
const SERVING_MS = 1_000

class CallsUnderWay {
  #count = 0
  #begunAt = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** @param atMs as `performance.now()` has it */
  begin(atMs: number): void {
    this.#count += 1
    this.#begunAt = atMs
  }

  /** Once for each that began. */
  end(): void {
    this.#count -= 1
  }

  /** @param atMs as for `begin` */
  areServed(atMs = performance.now()): boolean {
    return this.#count > 0 || atMs - this.#begunAt < SERVING_MS
  }
}

export const callsUnderWay = new CallsUnderWay()

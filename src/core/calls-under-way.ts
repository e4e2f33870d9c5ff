/** Counts the calls that this process serves, so long work on the event loop can yield to calls. */

/** Serving is assumed to continue for this time after the last call began. */
const SERVING_MS = 1_000

class CallsUnderWay {
  #count = 0
  #begunAt = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  begin(atMs: number): void {
    this.#count += 1
    this.#begunAt = atMs
  }

  end(): void {
    this.#count -= 1
  }

  areServed(atMs = performance.now()): boolean {
    return this.#count > 0 || atMs - this.#begunAt < SERVING_MS
  }
}

export const callsUnderWay = new CallsUnderWay()

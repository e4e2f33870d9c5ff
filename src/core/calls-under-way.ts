/**
 * Counts the calls that this process is serving, because long work on its event loop yields to
 * them. One per process, like the event loop. Must not know what a call is.
 */

/** How long serving is assumed to continue after the last call began. */
const SERVING_MS = 1_000

class CallsUnderWay {
  #count = 0
  #begunAt = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** @param atMs a time of `performance.now()` */
  begin(atMs: number): void {
    this.#count += 1
    this.#begunAt = atMs
  }

  /** Call once per `begin`. */
  end(): void {
    this.#count -= 1
  }

  /** @param atMs as for `begin` */
  areServed(atMs = performance.now()): boolean {
    return this.#count > 0 || atMs - this.#begunAt < SERVING_MS
  }
}

export const callsUnderWay = new CallsUnderWay()

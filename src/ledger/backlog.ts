/**
 * Lines that the disk did not take, kept in memory up to a bound until it does. Must not know
 * files.
 */

export class Backlog {
  #batches: Uint8Array[] = []
  #lines = 0
  #dropped = 0
  readonly #maxLines: number

  constructor(maxLines: number) {
    this.#maxLines = maxLines
  }

  get lines(): number {
    return this.#lines
  }

  /** Lines given up, since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** Keeps a copy of a whole batch; false where it does not fit, for what came first stays. */
  keep(bytes: Uint8Array, lines: number): boolean {
    if (this.#lines + lines > this.#maxLines) return false
    // Not slice: on a Buffer that is a view, and the next turn overwrites it.
    this.#batches.push(new Uint8Array(bytes))
    this.#lines += lines
    return true
  }

  drop(lines: number): void {
    this.#dropped += lines
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#batches)
  }

  clear(): void {
    this.#batches = []
    this.#lines = 0
  }
}

/**
 * Lines that the disk did not accept, kept in memory up to a limit until it does. Must not know
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

  /** Lines dropped since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /**
   * Keeps a copy of a whole batch; false when it does not fit, because older lines have priority.
   */
  keep(bytes: Uint8Array, lines: number): boolean {
    if (this.#lines + lines > this.#maxLines) return false
    // Not slice, which on a Buffer is a view that the next turn overwrites.
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

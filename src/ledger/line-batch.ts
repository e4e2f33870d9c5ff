/**
 * Collects the lines of one event-loop turn in one buffer that is used again. Must not know what a
 * line means.
 */

const INITIAL_BYTES = 64 * 1024
/** A buffer that one crowded turn made bigger than this is let go after it. */
const KEPT_BYTES = 1024 * 1024
/** The most bytes that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3

export class LineBatch {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #bytes = 0
  #lines = 0

  get lines(): number {
    return this.#lines
  }

  /** A view that the next `add` or `clear` may overwrite. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes)
  }

  add(line: string): void {
    const needed = this.#bytes + line.length * BYTES_PER_UNIT
    if (needed > this.#buffer.length) this.#grow(needed)
    this.#bytes += this.#buffer.write(line, this.#bytes)
    this.#lines += 1
  }

  clear(): void {
    this.#bytes = 0
    this.#lines = 0
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#bytes)
    this.#buffer = grown
  }
}

/**
 * Bytes with some ranges replaced by other text, combined only when they are sent. Must not know
 * what they mean.
 */

export interface Cut {
  readonly start: number
  readonly end: number
  /** Replaces the bytes from `start` to `end`. */
  readonly text: string
}

/** The owner may release the bytes for reuse; afterwards it throws instead of returning them. */
export interface BytesOwner {
  readonly bytes: Uint8Array
}

/** The source bytes must not be modified while their owner returns them. */
export class EditedBytes {
  readonly byteLength: number
  readonly #source: BytesOwner
  readonly #cuts: readonly Cut[]

  /** @param cuts ordered by position, not overlapping */
  constructor(source: BytesOwner, cuts: readonly Cut[] = []) {
    let length = source.bytes.byteLength
    for (const { start, end, text } of cuts) length += Buffer.byteLength(text) - (end - start)
    this.byteLength = length
    this.#source = source
    this.#cuts = cuts
  }

  /**
   * Creates no views, which for a small request would cost as much as everything else.
   * @returns the offset after the last byte
   */
  writeInto(target: Buffer, at: number): number {
    const source = this.#source.bytes
    let from = 0
    let to = at
    for (const { start, end, text } of this.#cuts) {
      to += copyBytes.call(source, target, to, from, start)
      to += target.write(text, to)
      from = end
    }
    return to + copyBytes.call(source, target, to, from)
  }

  /** Returns consecutive parts; unchanged ones are views. */
  parts(): Uint8Array[] {
    const source = this.#source.bytes
    const parts: Uint8Array[] = []
    let from = 0
    for (const { start, end, text } of this.#cuts) {
      parts.push(source.subarray(from, start), Buffer.from(text))
      from = end
    }
    parts.push(source.subarray(from))
    return parts
  }

  /** Returns one piece; without cuts, the source bytes themselves. */
  toBytes(): Uint8Array {
    if (this.#cuts.length === 0) return this.#source.bytes
    const bytes = Buffer.allocUnsafe(this.byteLength)
    this.writeInto(bytes, 0)
    return bytes
  }
}

/** Works on any byte array without creating a view. */
const copyBytes = Buffer.prototype.copy

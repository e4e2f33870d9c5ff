/** Bytes with some ranges replaced by other text, combined only when sent. */

export interface Cut {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** After the owner releases the bytes for reuse, `bytes` throws. */
export interface BytesOwner {
  readonly bytes: Uint8Array
}

/** The source bytes must not change while their owner returns them. */
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
   * Creates no views, because views cost as much as all other work for a small request.
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

  /** Returns consecutive parts; unchanged parts are views. */
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

  /** Returns the source bytes themselves when nothing was replaced. */
  toBytes(): Uint8Array {
    if (this.#cuts.length === 0) return this.#source.bytes
    const bytes = Buffer.allocUnsafe(this.byteLength)
    this.writeInto(bytes, 0)
    return bytes
  }
}

const copyBytes = Buffer.prototype.copy

/**
 * Bytes of which some give way to other text, written nowhere until they are sent. It must not know
 * what they mean.
 */

export interface Cut {
  readonly start: number
  readonly end: number
  /** It replaces the bytes from `start` to `end`. */
  readonly text: string
}

/** Its bytes may go to somebody else: it then throws instead of showing them. */
export interface BytesOwner {
  readonly bytes: Uint8Array
}

/** Nobody writes over the bytes that it was made of while their owner shows them. */
export class EditedBytes {
  readonly byteLength: number
  readonly #source: BytesOwner
  readonly #cuts: readonly Cut[]

  /** @param cuts in the order of the bytes, not overlapping */
  constructor(source: BytesOwner, cuts: readonly Cut[] = []) {
    let length = source.bytes.byteLength
    for (const { start, end, text } of cuts) length += Buffer.byteLength(text) - (end - start)
    this.byteLength = length
    this.#source = source
    this.#cuts = cuts
  }

  /**
   * Makes no view of anything: of a small request that would cost as much as all the rest.
   * @returns the place behind the last byte
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

  /** In parts that follow one another, of which those that are kept are views. */
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

  /** In one piece; without cuts the very bytes that it was made of. */
  toBytes(): Uint8Array {
    if (this.#cuts.length === 0) return this.#source.bytes
    const bytes = Buffer.allocUnsafe(this.byteLength)
    this.writeInto(bytes, 0)
    return bytes
  }
}

/** Works on any bytes, and makes no view of them. */
const copyBytes = Buffer.prototype.copy

/**
 * Reuses memory for large bodies. New memory for each body would fill the garbage collector's old
 * generation and cause full collections again and again.
 */

/**
 * Minimum size of a body whose memory is reused. Collecting a smaller body costs less than copying
 * it.
 */
export const LARGE_BODY_BYTES = 64 * 1024
const LARGEST_PIECE_BYTES = 8 * 1024 * 1024
const MOST_FREE_BYTES = 64 * 1024 * 1024
/** Memory that was unused for this long is freed, in milliseconds. */
const KEPT_MS = 5_000

export class BodyMemory {
  readonly #readers = new WeakMap<ArrayBuffer, number>()
  readonly #free = new Map<number, FreePieces>()
  #freeBytes = 0

  get freeBytes(): number {
    return this.#freeBytes
  }

  /** Returns memory with one reader. Memory that is never released is garbage collected. */
  take(byteLength: number): Buffer {
    if (byteLength < LARGE_BODY_BYTES || byteLength > LARGEST_PIECE_BYTES)
      return Buffer.allocUnsafeSlow(byteLength)
    const size = 2 ** Math.ceil(Math.log2(byteLength))
    const memory = this.#takeFree(size) ?? Buffer.allocUnsafeSlow(size).buffer
    this.#readers.set(memory, 1)
    return Buffer.from(memory, 0, byteLength)
  }

  /**
   * Adds a reader, which must call `release` too.
   * @param bytes memory from outside this pool is ignored
   */
  hold(bytes: Uint8Array): void {
    const memory = bytes.buffer as ArrayBuffer
    const readers = this.#readers.get(memory)
    if (readers !== undefined) this.#readers.set(memory, readers + 1)
  }

  release(bytes: Uint8Array): void {
    const memory = bytes.buffer as ArrayBuffer
    const readers = this.#readers.get(memory)
    if (readers === undefined) return
    if (readers > 1) {
      this.#readers.set(memory, readers - 1)
      return
    }
    this.#readers.delete(memory)
    const size = memory.byteLength
    if (this.#freeBytes + size > MOST_FREE_BYTES) {
      free(memory)
      return
    }
    this.#freeBytes += size
    const ready = this.#free.get(size)
    if (ready === undefined) this.#free.set(size, { pieces: [memory], leastOfLate: 0 })
    else ready.pieces.push(memory)
  }

  shrink(): void {
    for (const [size, ready] of this.#free) {
      for (const memory of ready.pieces.splice(0, ready.leastOfLate)) free(memory)
      this.#freeBytes -= ready.leastOfLate * size
      ready.leastOfLate = ready.pieces.length
    }
  }

  #takeFree(size: number): ArrayBuffer | undefined {
    const ready = this.#free.get(size)
    const memory = ready?.pieces.pop()
    if (ready === undefined || memory === undefined) return undefined
    this.#freeBytes -= size
    ready.leastOfLate = Math.min(ready.leastOfLate, ready.pieces.length)
    return memory
  }
}

/** Frees immediately, because an idle process does not collect garbage. */
function free(memory: ArrayBuffer): void {
  memory.transfer(0)
}

interface FreePieces {
  readonly pieces: ArrayBuffer[]
  /** The fewest free pieces since the last `shrink`. */
  leastOfLate: number
}

export const bodyMemory = new BodyMemory()
setInterval(() => bodyMemory.shrink(), KEPT_MS).unref()

/**
 * Memory for large bodies that the next one uses again. Were it new for each, the collector would
 * take it for old by the time that its call is over, and go through everything again and again.
 * Knows nothing of what is in it.
 */

/** A smaller body costs the collector less than a copy of it. */
export const LARGE_BODY_BYTES = 64 * 1024
const LARGEST_PIECE_BYTES = 8 * 1024 * 1024
/** That lie ready; a piece that would be more is freed. */
const MOST_FREE_BYTES = 64 * 1024 * 1024
/** Memory that nobody needed for so long is freed; milliseconds. */
const KEPT_MS = 5_000

export class BodyMemory {
  /** How many may still read each piece of memory that is taken. */
  readonly #readers = new WeakMap<ArrayBuffer, number>()
  /** By their size. */
  readonly #free = new Map<number, FreePieces>()
  #freeBytes = 0

  get freeBytes(): number {
    return this.#freeBytes
  }

  /** For its one reader so far. Memory that is never released goes to the collector. */
  take(byteLength: number): Buffer {
    if (byteLength < LARGE_BODY_BYTES || byteLength > LARGEST_PIECE_BYTES)
      return Buffer.allocUnsafeSlow(byteLength)
    const size = 2 ** Math.ceil(Math.log2(byteLength))
    const memory = this.#takeFree(size) ?? Buffer.allocUnsafeSlow(size).buffer
    this.#readers.set(memory, 1)
    return Buffer.from(memory, 0, byteLength)
  }

  /**
   * Somebody else reads them too, until they are released once more.
   * @param bytes any; other memory than this is ignored
   */
  hold(bytes: Uint8Array): void {
    const memory = bytes.buffer as ArrayBuffer
    const readers = this.#readers.get(memory)
    if (readers !== undefined) this.#readers.set(memory, readers + 1)
  }

  /** Its reader reads them no more: the last one leaves them to the next body. */
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

  /** Frees what nobody has needed since it was called last. */
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

/** At once: a process that does nothing does not collect. */
function free(memory: ArrayBuffer): void {
  memory.transfer(0)
}

interface FreePieces {
  readonly pieces: ArrayBuffer[]
  /** How few there were since the last look. */
  leastOfLate: number
}

/** Of the process. */
export const bodyMemory = new BodyMemory()
setInterval(() => bodyMemory.shrink(), KEPT_MS).unref()

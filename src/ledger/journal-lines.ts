/**
 * Lines of the journal in memory: those of a turn, until they are written, and those of a segment,
 * until they are in the store. Must not know files.
 */
import type { CallRecord } from '../core/call.ts'
import type { CallBatch } from '../core/call-batch.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import {
  accountOfOwnLine,
  idOfOwnLine,
  LINE_FRAME_BYTES,
  readOwnLine,
  writeLine,
} from './record-line.ts'

const INITIAL_BYTES = 64 * 1024
/** A buffer that one crowded turn made bigger than this is let go after it. */
const KEPT_BYTES = 1024 * 1024
/** The most bytes that UTF-8 needs for one UTF-16 unit. */
const BYTES_PER_UNIT = 3
const NEWLINE = 10

/** The lines of one event-loop turn, in one buffer that is used again. */
export class LineBatch {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #bytes = 0
  readonly #ends: number[] = []
  readonly #accounts: AccountId[] = []

  get lines(): number {
    return this.#ends.length
  }

  /** Of each line, behind its newline. */
  get ends(): readonly number[] {
    return this.#ends
  }

  /** Of each line. */
  get accounts(): readonly AccountId[] {
    return this.#accounts
  }

  /** A view that the next `add` or `clear` may overwrite. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes)
  }

  /** @param content of one more line, of that account */
  add(content: string, accountId: AccountId): void {
    const needed = this.#bytes + content.length * BYTES_PER_UNIT + LINE_FRAME_BYTES
    if (needed > this.#buffer.length) this.#grow(needed)
    this.#bytes = writeLine(content, this.#buffer, this.#bytes)
    this.#ends.push(this.#bytes)
    this.#accounts.push(accountId)
  }

  clear(): void {
    this.#bytes = 0
    this.#ends.length = 0
    this.#accounts.length = 0
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#bytes)
    this.#buffer = grown
  }
}

/** Of a segment while the store keeps up, and a turn more. */
const BEGIN_BYTES = 1024 * 1024 + 64 * 1024
/** One is written to while the store takes another. */
const MOST_SPARE = 2

/** Memory that no segment needs now. */
export class SpareBuffers {
  readonly #buffers: Buffer[] = []

  take(): Buffer {
    return this.#buffers.pop() ?? Buffer.allocUnsafeSlow(BEGIN_BYTES)
  }

  /** One that grew is let go: the store did not keep up, and that is over some time. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === BEGIN_BYTES && this.#buffers.length < MOST_SPARE)
      this.#buffers.push(buffer)
  }
}

/**
 * Keeps bytes: records that wait as objects grow old before their turn comes, and the collector
 * looks through all of them.
 */
export class KeptLines implements CallBatch {
  readonly #spare: SpareBuffers
  /** Undefined once its memory is another's. */
  #buffer: Buffer | undefined
  /** Of each line, behind its newline. */
  readonly #ends: number[] = []
  /** Of the lines of turns: those of a file say it themselves. */
  readonly #accounts: AccountId[] = []

  constructor(spare: SpareBuffers) {
    this.#spare = spare
    this.#buffer = spare.take()
  }

  get length(): number {
    return this.#ends.length
  }

  /** Copies them. */
  append(lines: LineBatch): void {
    const begin = this.#ends.at(-1) ?? 0
    const { bytes } = lines
    const buffer = this.#withRoom(begin, bytes.length)
    buffer.set(bytes, begin)
    for (const end of lines.ends) this.#ends.push(begin + end)
    for (const accountId of lines.accounts) this.#accounts.push(accountId)
  }

  /** @param line of a file, without its newline, which has its checksum */
  appendLine(line: Uint8Array): void {
    const begin = this.#ends.at(-1) ?? 0
    const end = begin + line.length + 1
    const buffer = this.#withRoom(begin, line.length + 1)
    buffer.set(line, begin)
    buffer[end - 1] = NEWLINE
    this.#ends.push(end)
  }

  /** @throws UnreadableLine, as below */
  accountOf(index: number): AccountId {
    const known = this.#accounts[index]
    if (known !== undefined) return known
    return accountOfOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

  idOf(index: number): CallId {
    return idOfOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

  /** @throws UnreadableLine */
  read(index: number): CallRecord {
    return readOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

  /** They are needed no longer. Their memory is used again, so that nothing can be read from now. */
  letGo(): void {
    this.#spare.giveBack(this.#held())
    this.#buffer = undefined
  }

  #endOf(index: number): number {
    const end = this.#ends[index]
    if (end === undefined) throw new RangeError(`There is no line ${index}.`)
    return end
  }

  #held(): Buffer {
    if (this.#buffer === undefined) throw new Error('These lines were let go.')
    return this.#buffer
  }

  #withRoom(used: number, bytes: number): Buffer {
    const buffer = this.#held()
    if (used + bytes <= buffer.length) return buffer
    const grown = Buffer.allocUnsafeSlow(Math.max(used + bytes, buffer.length * 2))
    buffer.copy(grown, 0, 0, used)
    this.#buffer = grown
    return grown
  }
}

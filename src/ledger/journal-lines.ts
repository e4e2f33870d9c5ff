/**
 * Journal lines in memory: lines of a turn until they are written, and lines of a segment until
 * they are in the store.
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
const KEPT_BYTES = 1024 * 1024
const BYTES_PER_UNIT = 3
const NEWLINE = 10

export class LineBatch {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #bytes = 0
  readonly #ends: number[] = []
  readonly #accounts: AccountId[] = []

  get lines(): number {
    return this.#ends.length
  }

  get ends(): readonly number[] {
    return this.#ends
  }

  get accounts(): readonly AccountId[] {
    return this.#accounts
  }

  /** A view that the next `add` or `clear` may overwrite. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes)
  }

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

const BEGIN_BYTES = 1024 * 1024 + 64 * 1024
const MOST_SPARE = 2

export class SpareBuffers {
  readonly #buffers: Buffer[] = []

  take(): Buffer {
    return this.#buffers.pop() ?? Buffer.allocUnsafeSlow(BEGIN_BYTES)
  }

  /** A buffer that grew is released, because the store was only temporarily slow. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === BEGIN_BYTES && this.#buffers.length < MOST_SPARE)
      this.#buffers.push(buffer)
  }
}

/**
 * Keeps lines as bytes. Record objects would be promoted to the old generation while they wait, and
 * the garbage collector would scan all of them.
 */
export class KeptLines implements CallBatch {
  readonly #spare: SpareBuffers
  /** Undefined after the memory was released. */
  #buffer: Buffer | undefined
  readonly #ends: number[] = []
  /** Accounts of lines from turns; lines from a file contain their account. */
  readonly #accounts: AccountId[] = []

  constructor(spare: SpareBuffers) {
    this.#spare = spare
    this.#buffer = spare.take()
  }

  get length(): number {
    return this.#ends.length
  }

  append(lines: LineBatch): void {
    const begin = this.#ends.at(-1) ?? 0
    const { bytes } = lines
    const buffer = this.#withRoom(begin, bytes.length)
    buffer.set(bytes, begin)
    for (const end of lines.ends) this.#ends.push(begin + end)
    for (const accountId of lines.accounts) this.#accounts.push(accountId)
  }

  /** @param line a line of a file without its newline, with a verified checksum */
  appendLine(line: Uint8Array): void {
    const begin = this.#ends.at(-1) ?? 0
    const end = begin + line.length + 1
    const buffer = this.#withRoom(begin, line.length + 1)
    buffer.set(line, begin)
    buffer[end - 1] = NEWLINE
    this.#ends.push(end)
  }

  accountOf(index: number): AccountId {
    const known = this.#accounts[index]
    if (known !== undefined) return known
    return accountOfOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

  idOf(index: number): CallId {
    return idOfOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

  read(index: number): CallRecord {
    return readOwnLine(this.#held(), this.#ends[index - 1] ?? 0, this.#endOf(index))
  }

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
    if (this.#buffer === undefined) throw new Error('The memory of these lines was released.')
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

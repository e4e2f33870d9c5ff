/**
 * Reads the records of a closed segment in bounded memory and counts what is damaged. Must not know
 * where they go.
 */
import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallRecord } from '../core/call.ts'
import { KeptLines, SpareBuffers } from './journal-lines.ts'
import { decodeRecordLine, hasItsChecksum } from './record-line.ts'

const CHUNK_BYTES = 128 * 1024
/**
 * Some fifty records, decoded before others get their turn: a tenth of a millisecond of the event
 * loop.
 */
const PART_BYTES = 16 * 1024
/** Far longer than any record; a stretch without a newline that exceeds it is one damaged line. */
const MAX_LINE_BYTES = 1024 * 1024
const NEWLINE = 10
const NOTHING = new Uint8Array(0)

export interface Damage {
  /**
   * Lines that could not be read, the torn end included; one where the file has lost all of them.
   */
  readonly damagedLines: number
  /**
   * True where the file ends within a line, as it does when the process is killed in the middle of
   * a write.
   */
  readonly tornEnd: boolean
  /** Lines that only a later version of the gateway can read. */
  readonly newerLines: number
}

export interface BatchOptions {
  /** Lines of a batch. */
  readonly most: number
  readonly isEachRead: boolean
  /** Awaited between two parts. */
  readonly between: () => Promise<unknown>
}

export class SegmentReader {
  readonly #path: string
  #damagedLines = 0
  #tornEnd = false
  #newerLines = 0
  /** The file ends with what comes now, and no newline does. */
  #isAtEnd = false

  constructor(path: string) {
    this.#path = path
  }

  /** Complete once `records` has ended. */
  get damage(): Damage {
    return {
      damagedLines: this.#damagedLines,
      tornEnd: this.#tornEnd,
      newerLines: this.#newerLines,
    }
  }

  /**
   * The records part by part, in the order in which they were written.
   * @param between awaited between two parts
   * @throws the file system's error
   */
  async *records(
    between: () => Promise<unknown> = nextTurn,
  ): AsyncGenerator<readonly CallRecord[]> {
    for await (const lines of this.#parts(between)) {
      const records: CallRecord[] = []
      for (const line of lines) {
        const record = this.#decode(line)
        if (record !== undefined) records.push(record)
      }
      yield records
    }
  }

  /**
   * The same as bytes, batch by batch, each the caller's to let go. A line that has its checksum
   * and is no call all the same is found when it is read, unless each of them is looked at.
   * @throws the file system's error
   */
  async *batches({ most, isEachRead, between }: BatchOptions): AsyncGenerator<KeptLines> {
    const spare = new SpareBuffers()
    let batch = new KeptLines(spare)
    for await (const lines of this.#parts(between)) {
      for (const line of lines) {
        if (isEachRead) {
          if (this.#decode(line) === undefined) continue
        } else if (!hasItsChecksum(line)) {
          this.#noteDamage()
          continue
        }
        batch.appendLine(line)
        if (batch.length < most) continue
        yield batch
        batch = new KeptLines(spare)
      }
    }
    if (batch.length > 0) yield batch
  }

  /** Lines without their newlines, none of them empty, in memory that the next part uses again. */
  async *#parts(between: () => Promise<unknown>): AsyncGenerator<readonly Uint8Array[]> {
    this.#damagedLines = 0
    this.#tornEnd = false
    this.#newerLines = 0
    this.#isAtEnd = false
    const file = await open(this.#path, 'r')
    try {
      const chunk = new Uint8Array(CHUNK_BYTES)
      let isEmpty = true
      // The rest of the last part: the beginning of a line. Undefined while an overlong line is
      // skipped.
      let rest: Uint8Array | undefined = NOTHING
      for (;;) {
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
        if (bytesRead === 0) break
        isEmpty = false
        for (let begin = 0; begin < bytesRead; begin += PART_BYTES) {
          if (begin > 0) await between()
          const part = chunk.subarray(begin, Math.min(begin + PART_BYTES, bytesRead))
          const lines: Uint8Array[] = []
          rest = this.#takeLines(rest, part, lines)
          yield lines
        }
      }
      // It began with a line's end: a power cut has taken what the operating system had not written
      // yet.
      if (isEmpty) this.#noteDamage()
      // The write may have been cut exactly before the newline: such a record is whole.
      this.#isAtEnd = true
      if (rest !== undefined && rest.length > 0) yield [rest]
    } finally {
      await file.close()
    }
  }

  /** @returns what is left over, as `rest` */
  #takeLines(
    rest: Uint8Array | undefined,
    part: Uint8Array,
    lines: Uint8Array[],
  ): Uint8Array | undefined {
    let left = rest
    let start = 0
    for (;;) {
      const end = part.indexOf(NEWLINE, start)
      if (end < 0) break
      if (left !== undefined) {
        const line = join(left, part.subarray(start, end))
        if (line.length > 0) lines.push(line)
      }
      left = NOTHING
      start = end + 1
    }
    if (left === undefined) return undefined
    left = join(left, part.slice(start))
    if (left.length <= MAX_LINE_BYTES) return left
    this.#noteDamage()
    return undefined
  }

  #decode(line: Uint8Array): CallRecord | undefined {
    const record = decodeRecordLine(line)
    if (record === undefined) this.#noteDamage()
    else if (record === 'newer') this.#newerLines += 1
    else return record
    return undefined
  }

  #noteDamage(): void {
    this.#damagedLines += 1
    this.#tornEnd = this.#isAtEnd
  }
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right
  const joined = new Uint8Array(left.length + right.length)
  joined.set(left)
  joined.set(right, left.length)
  return joined
}

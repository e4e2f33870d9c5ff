import { open } from 'node:fs/promises'
import { join as pathOf } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallRecord } from '../core/call.ts'
import { KeptLines, SpareBuffers } from './journal-lines.ts'
import { decodeRecordLine, hasItsChecksum, type OtherVersion } from './record-line.ts'
import { listSegments } from './segment-file.ts'

const CHUNK_BYTES = 128 * 1024
const PART_BYTES = 16 * 1024
const MAX_LINE_BYTES = 1024 * 1024
const NEWLINE = 10
const NOTHING = new Uint8Array(0)

export interface Damage {
  /** Unreadable lines, including a torn end; 1 when the file has lost all lines. */
  readonly damagedLines: number
  /** Whether the file ends within a line, as after a kill in the middle of a write. */
  readonly tornEnd: boolean
  readonly otherLines: Readonly<Record<OtherVersion, number>>
}

export interface BatchOptions {
  readonly most: number
  readonly isEachRead: boolean
  readonly between: () => Promise<unknown>
}

export class SegmentReader {
  readonly #path: string
  #damagedLines = 0
  #tornEnd = false
  #otherLines = { newer: 0, older: 0 }
  #isAtEnd = false

  constructor(path: string) {
    this.#path = path
  }

  get damage(): Damage {
    return {
      damagedLines: this.#damagedLines,
      tornEnd: this.#tornEnd,
      otherLines: this.#otherLines,
    }
  }

  /**
   * The records in parts, in the order in which they were written.
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
   * Like `records`, as batches of bytes that the caller releases. Without `isEachRead`, lines with
   * a valid checksum are not decoded.
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

  /** Lines without their newlines, none empty, in memory that the next part reuses. */
  async *#parts(between: () => Promise<unknown>): AsyncGenerator<readonly Uint8Array[]> {
    this.#damagedLines = 0
    this.#tornEnd = false
    this.#otherLines = { newer: 0, older: 0 }
    this.#isAtEnd = false
    const file = await open(this.#path, 'r')
    try {
      const chunk = new Uint8Array(CHUNK_BYTES)
      let isEmpty = true
      // The incomplete line at the end of the last part. Undefined while an overlong line is
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
      // Every file begins with an empty line, so an empty file has lost its lines in a power cut.
      if (isEmpty) this.#noteDamage()
      // The write may have been cut exactly before the newline; such a record is complete.
      this.#isAtEnd = true
      if (rest !== undefined && rest.length > 0) yield [rest]
    } finally {
      await file.close()
    }
  }

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
    else if (typeof record === 'string') this.#otherLines[record] += 1
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

export async function listOlderSegments(dataFolder: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const { segment } of listSegments(pathOf(dataFolder, 'journal'))) {
    const reader = new SegmentReader(segment.path)
    for await (const _records of reader.records()) if (reader.damage.otherLines.older > 0) break
    if (reader.damage.otherLines.older > 0) paths.push(segment.path)
  }
  return paths
}

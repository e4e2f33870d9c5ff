/** Reads the records of a closed segment in bounded memory and counts what is damaged. Must not know where they go. */
import { open } from 'node:fs/promises'
import type { CallRecord } from '../core/call.ts'
import { decodeRecordLine } from './record-line.ts'

/** Some eighty records: a fifth of a millisecond of the event loop. */
const CHUNK_BYTES = 16 * 1024
/** Far longer than any record; a stretch without a newline that exceeds it is one damaged line. */
const MAX_LINE_BYTES = 1024 * 1024
const NEWLINE = 10

export interface Damage {
  /** Lines that could not be read, the torn end included. */
  readonly damagedLines: number
  /** Whether the file ends within a line, as it does when the process is killed in the middle of a write. */
  readonly tornEnd: boolean
}

export class SegmentReader {
  readonly #path: string
  #damagedLines = 0
  #tornEnd = false

  constructor(path: string) {
    this.#path = path
  }

  /** Complete once `records` has ended. */
  get damage(): Damage {
    return { damagedLines: this.#damagedLines, tornEnd: this.#tornEnd }
  }

  /** The records chunk by chunk, in the order in which they were written. @throws the file system's error. */
  async *records(): AsyncGenerator<readonly CallRecord[]> {
    this.#damagedLines = 0
    this.#tornEnd = false
    const file = await open(this.#path, 'r')
    try {
      const chunk = new Uint8Array(CHUNK_BYTES)
      // What is left of the last chunk: the beginning of a line. Undefined while an overlong line is skipped.
      let rest: Uint8Array | undefined = new Uint8Array(0)
      for (;;) {
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
        if (bytesRead === 0) break
        const records: CallRecord[] = []
        let start = 0
        for (;;) {
          const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start)
          if (end < 0) break
          if (rest !== undefined) this.#take(join(rest, chunk.subarray(start, end)), records)
          rest = new Uint8Array(0)
          start = end + 1
        }
        if (rest !== undefined) {
          rest = join(rest, chunk.slice(start, bytesRead))
          if (rest.length > MAX_LINE_BYTES) {
            this.#damagedLines += 1
            rest = undefined
          }
        }
        yield records
      }
      if (rest !== undefined && rest.length > 0) yield this.#takeEnd(rest)
    } finally {
      await file.close()
    }
  }

  #take(line: Uint8Array, records: CallRecord[]): void {
    if (line.length === 0) return
    const record = decodeRecordLine(line)
    if (record === undefined) this.#damagedLines += 1
    else records.push(record)
  }

  /** The write may have been cut exactly before the newline: such a record is whole. */
  #takeEnd(line: Uint8Array): readonly CallRecord[] {
    const records: CallRecord[] = []
    this.#take(line, records)
    this.#tornEnd = records.length === 0
    return records
  }
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right
  const joined = new Uint8Array(left.length + right.length)
  joined.set(left)
  joined.set(right, left.length)
  return joined
}

/**
 * The records of the segment that is being written, as they were handed in, so that the shipper
 * need not read them back. What is not all here is read from the file. Must not know files.
 */
import type { CallRecord } from '../core/call.ts'

export class ActiveRecords {
  /** Undefined: the file holds, or will hold, records that are not here. */
  #records: CallRecord[] | undefined
  #written = 0
  readonly #room: () => number
  /** What it was when it was last asked for. */
  #knownRoom = 0

  /**
   * @param room how many records may be kept of a segment now: more, when the store has taken
   * others
   */
  constructor(room: () => number) {
    this.#room = room
  }

  /** A segment begins. @param isEmpty whether nothing is in its file that was not handed in here */
  begin(isEmpty: boolean): void {
    this.#records = isEmpty ? [] : undefined
    this.#written = 0
    this.#knownRoom = 0
  }

  /** Handed in, and not written yet. */
  add(record: CallRecord): void {
    if (this.#records === undefined) return
    if (this.#records.length >= this.#knownRoom) this.#knownRoom = this.#room()
    if (this.#records.length < this.#knownRoom) this.#records.push(record)
    else this.#records = undefined
  }

  /** Everything handed in so far is in the file. */
  markWritten(): void {
    this.#written = this.#records?.length ?? 0
  }

  /**
   * The segment ends; what was not written with it is let go.
   * @returns all that is in its file; undefined where some of that is not here
   */
  end(): readonly CallRecord[] | undefined {
    const records = this.#records
    this.#records = undefined
    if (records !== undefined) records.length = this.#written
    return records
  }
}

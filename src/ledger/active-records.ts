/**
 * The records of the segment that is being written, as they were handed in, so that the shipper need not read them back. What
 * is not all here is read from the file. Must not know files.
 */
import type { CallRecord } from '../core/call.ts'

export class ActiveRecords {
  /** Undefined: the file holds, or will hold, records that are not here. */
  #records: CallRecord[] | undefined
  #written = 0
  #room = 0

  /** A segment begins. @param room how many records may be kept of it; 0: it is read from its file */
  begin(room: number): void {
    this.#records = room > 0 ? [] : undefined
    this.#written = 0
    this.#room = room
  }

  /** Handed in, and not written yet. */
  add(record: CallRecord): void {
    if (this.#records === undefined) return
    if (this.#records.length < this.#room) this.#records.push(record)
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

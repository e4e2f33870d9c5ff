/**
 * The segments that wait to be shipped, leftovers of earlier processes included. Must not know who
 * ships them.
 */
import { existsSync, renameSync, statSync, unlinkSync } from 'node:fs'
import type { KeptLines } from './journal-lines.ts'
import type { ReportLedgerEvent } from './ledger-event.ts'
import { type ClosedSegment, listSegments } from './segment-file.ts'
import type { Damage } from './segment-reader.ts'

export class ClosedSegments {
  /** With their lines, where these are still in memory. */
  readonly #segments = new Map<ClosedSegment, KeptLines | undefined>()
  readonly #report: ReportLedgerEvent
  #keptRecords = 0
  #damagedLines = 0
  #newer = 0

  constructor(report: ReportLedgerEvent) {
    this.#report = report
  }

  get count(): number {
    return this.#segments.size
  }

  get bytes(): number {
    let bytes = 0
    for (const segment of this.#segments.keys()) bytes += segment.bytes
    return bytes
  }

  /** Lines that could not be read, in the segments discarded since the start. */
  get damagedLines(): number {
    return this.#damagedLines
  }

  /** Segments that were left as they are for a later version of the gateway, since the start. */
  get newer(): number {
    return this.#newer
  }

  /** How many records are in memory. */
  get records(): number {
    return this.#keptRecords
  }

  /** @param lines all that is in the segment, where that is in memory: theirs to let go */
  add(segment: ClosedSegment, lines?: KeptLines): void {
    this.#segments.set(segment, lines)
    this.#keptRecords += lines?.length ?? 0
  }

  /**
   * The segment's records, from memory. Undefined where the file is to be read: the records are not
   * in memory, or the file has changed since it was written, and its reader tells what is left.
   */
  recordsOf(segment: ClosedSegment): KeptLines | undefined {
    const lines = this.#segments.get(segment)
    if (lines === undefined) return undefined
    const file = statSync(segment.path, { throwIfNoEntry: false })
    return file === undefined || file.size === segment.bytes ? lines : undefined
  }

  has(segment: ClosedSegment): boolean {
    return this.#segments.has(segment)
  }

  /** Oldest first. */
  list(): readonly ClosedSegment[] {
    return [...this.#segments.keys()]
  }

  /**
   * Takes over what an earlier process left. @returns the first free sequence number. @throws the
   * file system's error.
   */
  recover(folder: string): number {
    let next = 1
    for (const { sequence, segment } of listSegments(folder)) {
      this.#segments.set(segment, undefined)
      next = sequence + 1
    }
    return next
  }

  /**
   * Deletes a segment whose records are in the store. One that held damage other than a torn end is
   * set aside as `*.damaged` instead, since a newer version or a person may still make something of
   * it. One that a later version of the gateway wrote, before it was rolled back, stays as it is:
   * that version ships all of it when it is back.
   * @throws the file system's error; the segment stays listed then.
   */
  discard(segment: ClosedSegment, damage: Damage): void {
    const { damagedLines, tornEnd, newerLines } = damage
    if (newerLines > 0) {
      this.#delete(segment)
      this.#newer += 1
      this.#report({ type: 'segment-newer', path: segment.path, lines: newerLines })
      return
    }
    if (damagedLines > (tornEnd ? 1 : 0)) setAside(segment.path)
    else unlinkSync(segment.path)
    this.#delete(segment)
    this.#damagedLines += damagedLines
    if (damagedLines > 0) {
      this.#report({ type: 'segment-damaged', path: segment.path, lines: damagedLines, tornEnd })
    }
  }

  /** Forgets a segment that somebody else deleted. */
  forget(segment: ClosedSegment): void {
    if (this.#delete(segment)) this.#report({ type: 'segment-missing', path: segment.path })
  }

  #delete(segment: ClosedSegment): boolean {
    const lines = this.#segments.get(segment)
    this.#keptRecords -= lines?.length ?? 0
    lines?.letGo()
    return this.#segments.delete(segment)
  }
}

/** Names are used again at each start, and another start may have set one of this name aside. */
function setAside(path: string): void {
  let aside = `${path}.damaged`
  for (let more = 2; existsSync(aside); more += 1) aside = `${path}.${more}.damaged`
  renameSync(path, aside)
}

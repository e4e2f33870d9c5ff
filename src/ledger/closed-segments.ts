/** The segments that wait for the shipper, including segments of earlier processes. */
import { existsSync, renameSync, statSync, unlinkSync } from 'node:fs'
import type { KeptLines } from './journal-lines.ts'
import type { ReportLedgerEvent } from './ledger-event.ts'
import { type ClosedSegment, listSegments } from './segment-file.ts'
import type { Damage } from './segment-reader.ts'

export class ClosedSegments {
  /** Each segment, with its lines while they are still in memory. */
  readonly #segments = new Map<ClosedSegment, KeptLines | undefined>()
  readonly #report: ReportLedgerEvent
  #keptRecords = 0
  #damagedLines = 0
  readonly left = { newer: 0, older: 0 }

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

  get damagedLines(): number {
    return this.#damagedLines
  }

  get records(): number {
    return this.#keptRecords
  }

  add(segment: ClosedSegment, lines?: KeptLines): void {
    this.#segments.set(segment, lines)
    this.#keptRecords += lines?.length ?? 0
  }

  /**
   * The segment's records from memory. Undefined when the file must be read: the records are not in
   * memory, or the file has changed since the last write.
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

  list(): readonly ClosedSegment[] {
    return [...this.#segments.keys()]
  }

  /**
   * Takes over the segments of an earlier process.
   * @returns the first free sequence number
   * @throws the file system's error
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
   * Deletes a segment whose records are in the store. A segment with damage other than a torn end
   * is renamed to `*.damaged` for examination. A segment of another version stays, because only
   * that version can ship it.
   * @throws the file system's error; the segment then stays listed
   */
  discard(segment: ClosedSegment, damage: Damage): void {
    const { damagedLines, tornEnd, otherLines } = damage
    const other = otherLines.newer > 0 ? 'newer' : otherLines.older > 0 ? 'older' : undefined
    if (other !== undefined) {
      this.#delete(segment)
      this.left[other] += 1
      this.#report({ type: `segment-${other}`, path: segment.path, lines: otherLines[other] })
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

/** Names are reused after each start, so a renamed segment of this name may exist. */
function setAside(path: string): void {
  let aside = `${path}.damaged`
  for (let more = 2; existsSync(aside); more += 1) aside = `${path}.${more}.damaged`
  renameSync(path, aside)
}

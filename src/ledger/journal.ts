/**
 * The ledger's journal: appends every settled call to a file before its caller gets the end of the
 * answer, in a batch with all other calls of the event-loop turn.
 */
import { join } from 'node:path'
import type { CallRecord } from '../core/call.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { Ledger } from '../gateway/ports.ts'
import { Backlog } from './backlog.ts'
import { toWholeRecord } from './call-line.ts'
import { ClosedSegments } from './closed-segments.ts'
import { KeptLines, LineBatch, SpareBuffers } from './journal-lines.ts'
import type { ReportLedgerEvent } from './ledger-event.ts'
import { toLineContent } from './record-line.ts'
import { SegmentFile, type SyncMode } from './segment-file.ts'

interface Turn {
  readonly written: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

/**
 * Group commit: all records of an event-loop turn are one `write`, made before their shared promise
 * resolves. Design §6.
 * With `sync: 'os'` acknowledged records survive SIGKILL, but a power cut loses what the system had
 * not flushed (up to half a minute on Linux). With `sync: 'batch'` each batch is flushed with
 * fdatasync first, which blocks the event loop; the shipper then needs `syncStore` too.
 * A failed write is repeated once in a new segment. If that fails too, the journal is not writable,
 * and a probe tries again every second. Records of the failed batch stay in memory and are written
 * first. Fail-closed (`onFailure: 'closed'`) refuses new calls meanwhile, and answers the calls of
 * the failed batch with 503; their rows may appear later. With `onFailure: 'open'` calls continue;
 * records that do not fit the backlog are dropped and counted.
 * At its start a journal treats every existing segment as closed, so a data folder has one process.
 */
export class Journal implements Ledger {
  readonly closed: ClosedSegments
  readonly #folder: string
  readonly #segmentBytes: number
  readonly #failClosed: boolean
  readonly #sync: SyncMode
  readonly #probeIntervalMs: number
  readonly #report: ReportLedgerEvent
  readonly #batch = new LineBatch()
  readonly #backlog: Backlog
  readonly #spare = new SpareBuffers()
  readonly #keptRecords: number
  #kept: KeptLines | undefined
  #active: SegmentFile | undefined
  #turn: Turn | undefined
  #nextSequence: number | undefined
  #failure: { readonly cause: unknown } | undefined
  #endProbes: (() => void) | undefined
  #isClosed = false
  #segmentFilled: (() => void) | undefined
  readonly #commit = (): void => this.flush()

  /**
   * Never throws: an unwritable folder is a state of the journal and does not prevent the start.
   */
  constructor(dataFolder: string, options: JournalOptions = {}) {
    this.#folder = join(dataFolder, 'journal')
    this.#segmentBytes = options.segmentBytes ?? 4 * 1024 * 1024
    this.#failClosed = options.onFailure !== 'open'
    this.#sync = options.sync ?? 'os'
    this.#probeIntervalMs = options.probeIntervalMs ?? 1000
    this.#report = options.report ?? (() => {})
    this.closed = new ClosedSegments(this.#report)
    this.#backlog = new Backlog(options.backlogRecords ?? 25_000)
    this.#keptRecords = options.keptRecords ?? 32_000
    this.#begin()
  }

  /**
   * @throws GatewayError `unavailable` (rejects) when the record is not on disk and the journal
   * fails closed
   */
  record(call: CallRecord): Promise<void> {
    const record = toWholeRecord(call)
    this.#batch.add(toLineContent(record), record.accountId)
    if (this.#turn === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      this.#turn = { written: promise, resolve, reject }
      // Immediates run after all sockets that were ready in this turn: 19 records per write with 64
      // callers, where a microtask or tick gives one. A single call waits less than 1 µs.
      setImmediate(this.#commit)
    }
    return this.#turn.written
  }

  assertWritable(): void {
    if (this.#failure !== undefined && this.#failClosed)
      throw journalUnavailable(this.#failure.cause)
  }

  flush(): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#turn = undefined
    const written = this.#write(this.#batch)
    this.#batch.clear()
    if (written || !this.#failClosed) {
      turn.resolve()
    } else {
      // The caller may be gone, and an unhandled rejection would end the process, so the rejection
      // is handled here.
      turn.written.catch(() => {})
      turn.reject(journalUnavailable(this.#failure?.cause))
    }
    if (this.#active !== undefined && this.#active.bytes >= this.#fullBytes()) {
      this.rotate()
      this.#segmentFilled?.()
    }
  }

  #fullBytes(): number {
    const isKeepingUp = this.closed.count < MOST_SMALL_SEGMENTS
    return isKeepingUp ? Math.min(SMALL_SEGMENT_BYTES, this.#segmentBytes) : this.#segmentBytes
  }

  rotate(): void {
    this.flush()
    if (this.#active === undefined || !this.#active.holdsRecords) return
    this.#retire(this.#active)
    this.#begin()
  }

  /**
   * Starts a new file when the active file is no longer at its path. A write does not detect that
   * its folder was moved.
   */
  lookAfterFile(): void {
    this.flush()
    const active = this.#active
    if (active === undefined || active.isInPlace()) return
    this.#retire(active)
    this.#begin()
  }

  onSegmentFilled(listener: () => void): void {
    this.#segmentFilled = listener
  }

  state(): JournalState {
    const active = this.#active?.holdsRecords === true ? this.#active : undefined
    return {
      writable: this.#failure === undefined,
      ...(this.#failure === undefined ? {} : { reason: toFailureReason(this.#failure.cause) }),
      backlog: this.#backlog.lines,
      dropped: this.#backlog.dropped,
      unshippedBytes: this.closed.bytes + (active?.bytes ?? 0),
      segments: this.closed.count + (active === undefined ? 0 : 1),
      damagedLines: this.closed.damagedLines,
      newerSegments: this.closed.left.newer,
      olderSegments: this.closed.left.older,
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.flush()
    if (this.#active !== undefined) this.#retire(this.#active)
    if (this.#backlog.lines > 0) this.#begin()
    if (this.#active !== undefined) this.#retire(this.#active)
    this.#isClosed = true
    this.#endProbes?.()
    this.#failure ??= {
      cause: Object.assign(new Error('The journal is closed.'), { code: 'closed' }),
    }
    const lost = this.#backlog.lines
    if (lost > 0) this.#report({ type: 'records-dropped', count: lost })
  }

  #write(batch: LineBatch): boolean {
    const active = this.#active
    if (active === undefined) {
      this.#keep(batch.bytes, batch.lines)
      return false
    }
    try {
      active.append(batch.bytes)
      this.#keepWritten(batch)
      return true
    } catch (error) {
      // A new file helps when the failure concerns only the current file, such as a deleted file or
      // a size limit.
      this.#retire(active)
      const isKept = this.#keep(batch.bytes, batch.lines)
      return this.#begin(error) && isKept
    }
  }

  #keepWritten(batch: LineBatch): void {
    const count = this.closed.records + (this.#kept?.length ?? 0) + batch.lines
    if (count <= this.#keptRecords) this.#kept?.append(batch)
    else this.#letKeptGo()
  }

  #letKeptGo(): void {
    this.#kept?.letGo()
    this.#kept = undefined
  }

  #keep(lines: Uint8Array, count: number): boolean {
    const isKept = !this.#isClosed && this.#backlog.keep(lines, count)
    if (!isKept) {
      this.#backlog.drop(count)
      this.#report({ type: 'records-dropped', count })
    }
    return isKept
  }

  /**
   * Stops appending to a segment, whose records then wait for the shipper. If the file is no longer
   * at its path, the records go to the backlog.
   */
  #retire(segment: SegmentFile): void {
    this.#active = undefined
    const rescued = segment.holdsRecords ? segment.rescueLines() : undefined
    if (segment.holdsRecords && rescued === undefined) {
      this.closed.add({ path: segment.path, bytes: segment.bytes }, this.#kept)
      this.#kept = undefined
    }
    this.#letKeptGo()
    if (!segment.holdsRecords) segment.remove()
    if (rescued !== undefined) {
      this.#report({ type: 'segment-missing', path: segment.path })
      this.#keep(rescued, countLines(rescued))
    }
    segment.close()
  }

  #begin(cause?: unknown): boolean {
    let segment: SegmentFile | undefined
    try {
      const sequence = this.#nextSequence ?? this.closed.recover(this.#folder)
      this.#nextSequence = sequence + 1
      segment = SegmentFile.create(this.#folder, sequence, this.#sync)
      if (this.#backlog.lines > 0) segment.append(this.#backlog.bytes())
    } catch (error) {
      segment?.close()
      segment?.remove()
      this.#fail(cause ?? error)
      return false
    }
    this.#active = segment
    if (this.#backlog.lines === 0) this.#kept = new KeptLines(this.#spare)
    if (this.#failure !== undefined) this.#recovered()
    this.#backlog.clear()
    return true
  }

  #fail(cause: unknown): void {
    const isNew = this.#failure === undefined
    this.#failure = { cause }
    if (!isNew) return
    this.#report({ type: 'write-failed', reason: toFailureReason(cause), cause })
    this.#endProbes = systemClock.every(this.#probeIntervalMs, () => this.#begin())
  }

  #recovered(): void {
    this.#failure = undefined
    this.#endProbes?.()
    this.#report({ type: 'write-recovered', backlogWritten: this.#backlog.lines })
  }
}

/**
 * About four thousand records, which is one batch of the shipper. Smaller batches cost more,
 * because calls of many accounts share fewer pages; larger batches take memory.
 */
const SMALL_SEGMENT_BYTES = 1024 * 1024
/** With more files waiting, the store is too slow, and few large files are better than many. */
const MOST_SMALL_SEGMENTS = 4

function countLines(lines: Uint8Array): number {
  let count = 0
  for (const byte of lines) if (byte === 10) count += 1
  return count
}

export interface JournalOptions {
  /**
   * Size at which a segment is closed; 1 MiB while few segments wait for the store. Default 4 MiB.
   */
  readonly segmentBytes?: number
  readonly onFailure?: 'closed' | 'open'
  readonly sync?: SyncMode
  /**
   * Records kept in memory while the disk fails. Default 25,000, about 6 MB: more than a segment
   * holds, so that a deleted segment can be rescued whole.
   */
  readonly backlogRecords?: number
  /**
   * Records kept in memory until they are in the store, so that the file need not be read. Default
   * 32,000: about 8 MB, two seconds of one core's maximum load. 0: none.
   */
  readonly keptRecords?: number
  /** Interval between attempts after a disk failure. Default 1,000. */
  readonly probeIntervalMs?: number
  readonly report?: ReportLedgerEvent
}

interface JournalState {
  readonly writable: boolean
  readonly reason?: string
  readonly backlog: number
  readonly dropped: number
  readonly unshippedBytes: number
  readonly segments: number
  /** Unreadable lines found when their segment was shipped, since the start. */
  readonly damagedLines: number
  /** Files that wait for a later version of the gateway. */
  readonly newerSegments: number
  /** Files of a build from before the first release, which only that build can ship. */
  readonly olderSegments: number
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  EIO: 'input/output error of the disk',
  EFBIG: 'file size limit reached',
  ENOENT: 'the journal folder is missing',
  ENOTDIR: 'the journal folder is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  closed: 'the journal is closed',
  ESTALE: 'the network file system lost the file',
}

function toFailureReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
  return WORDS[code] ?? `write failed (${code})`
}

function journalUnavailable(cause: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record calls at the moment, so it accepts none. Please try again later.',
    { headers: { 'retry-after': '5' }, cause },
  )
}

/**
 * The ledger's journal: every settled call is appended to a file before its caller sees the end of
 * the answer, in one batch with all others of its turn. Knows files and group commit; must not know
 * the store, nor what is in a record.
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
 * Group commit: all records of one event-loop turn are one `write`, made before any of their
 * promises resolves; they share one promise. Design §6.
 *
 * What survives: with `sync: 'os'` everything acknowledged outlives the process, SIGKILL included,
 * but a power cut or a crash of the kernel loses what it had not flushed (up to half a minute on
 * Linux). With `sync: 'batch'` each batch is flushed with fdatasync first, which costs the disk's
 * latency on the event loop; the shipper must then be given `syncStore` too, since a segment is
 * deleted after the store's commit.
 *
 * When a write fails, it is tried once more in a new segment; when that fails too the journal is
 * not writable, and a probe tries again every second. The calls of the failed batch did happen and
 * may have cost money, so their records are kept as they are, outcome included, and written first
 * when the disk is back. Fail-closed (`onFailure: 'closed'`) refuses new calls meanwhile, and a
 * call whose record could not be written at once is answered with an error. So a row may appear
 * later for a call whose caller was told 503, but a caller never sees a complete answer without a
 * row. With `onFailure: 'open'` calls go on; what does not fit the backlog is dropped and counted.
 *
 * Written lines stay in memory too, up to a bound, until they are in the store: the shipper takes
 * them from there and reads a file only where some of it is not in memory, or where the file is not
 * as it was written. The backlog's lines and those rescued from a deleted file are read back.
 *
 * One process per data folder: at its start it takes every segment that it finds for a closed one.
 */
export class Journal implements Ledger {
  /** The segments that wait to be shipped. */
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
  /** All lines of the active segment; undefined where some are not in memory. */
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
   * Never throws: a folder that cannot be written is a state of the journal, not a reason not to
   * start.
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
   * fails closed.
   */
  record(call: CallRecord): Promise<void> {
    const record = toWholeRecord(call)
    this.#batch.add(toLineContent(record), record.accountId)
    if (this.#turn === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      this.#turn = { written: promise, resolve, reject }
      // Immediates run after every socket that was ready in this turn: measured 19 records a write
      // under 64 callers where a microtask or a tick gives one, and under 1 µs of waiting for a
      // single call.
      setImmediate(this.#commit)
    }
    return this.#turn.written
  }

  assertWritable(): void {
    if (this.#failure !== undefined && this.#failClosed)
      throw journalUnavailable(this.#failure.cause)
  }

  /** Writes what was handed in so far, without waiting for the end of the turn. */
  flush(): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#turn = undefined
    const written = this.#write(this.#batch)
    this.#batch.clear()
    if (written || !this.#failClosed) {
      turn.resolve()
    } else {
      // A caller that has already gone may not be waiting; an unhandled rejection would end the
      // process.
      turn.written.catch(() => {})
      turn.reject(journalUnavailable(this.#failure?.cause))
    }
    if (this.#active !== undefined && this.#active.bytes >= this.#fullBytes()) {
      this.rotate()
      this.#segmentFilled?.()
    }
  }

  /** Of the active segment: with so many it is closed. */
  #fullBytes(): number {
    const isKeepingUp = this.closed.count < MOST_SMALL_SEGMENTS
    return isKeepingUp ? Math.min(SMALL_SEGMENT_BYTES, this.#segmentBytes) : this.#segmentBytes
  }

  /** Closes the active segment, so that it can be shipped, unless it holds nothing. */
  rotate(): void {
    this.flush()
    if (this.#active === undefined || !this.#active.holdsRecords) return
    this.#retire(this.#active)
    this.#begin()
  }

  /**
   * Goes on in a new file where the active one is not in its place: its folder may have been moved,
   * which a write does not notice.
   */
  lookAfterFile(): void {
    this.flush()
    const active = this.#active
    if (active === undefined || active.isInPlace()) return
    this.#retire(active)
    this.#begin()
  }

  /** Called whenever a segment was closed because it is full. */
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
      newerSegments: this.closed.newer,
    }
  }

  /**
   * Writes everything that can be written. A record handed in afterwards is refused, or with `open`
   * lost and counted.
   */
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

  /**
   * True where the lines are on disk; if not, they are in the backlog or, where that is full,
   * dropped.
   */
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
      // A new file helps where the trouble is this file's: it was deleted, or reached a size limit.
      this.#retire(active)
      const isKept = this.#keep(batch.bytes, batch.lines)
      return this.#begin(error) && isKept
    }
  }

  /** For the shipper, which reads the file where there is no room for them. */
  #keepWritten(batch: LineBatch): void {
    const count = this.closed.records + (this.#kept?.length ?? 0) + batch.lines
    if (count <= this.#keptRecords) this.#kept?.append(batch)
    else this.#letKeptGo()
  }

  #letKeptGo(): void {
    this.#kept?.letGo()
    this.#kept = undefined
  }

  /** In the backlog, where there is room. */
  #keep(lines: Uint8Array, count: number): boolean {
    const isKept = !this.#isClosed && this.#backlog.keep(lines, count)
    if (!isKept) {
      this.#backlog.drop(count)
      this.#report({ type: 'records-dropped', count })
    }
    return isKept
  }

  /**
   * Stops appending to a segment. Its records wait for the shipper; where the file was deleted or
   * moved, so that nobody would find them, they go to the backlog.
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

  /**
   * Begins a segment with what is in the backlog. True where that worked; if not, the journal has
   * failed, of `cause`.
   */
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
 * While the store keeps up, records wait in memory until they are one batch of the shipper's, some
 * four thousand. Smaller batches cost more, for calls of many accounts share fewer pages; larger
 * ones take memory.
 */
const SMALL_SEGMENT_BYTES = 1024 * 1024
/** With more files waiting it does not keep up, and few large files are better than many. */
const MOST_SMALL_SEGMENTS = 4

function countLines(lines: Uint8Array): number {
  let count = 0
  for (const byte of lines) if (byte === 10) count += 1
  return count
}

// The journal's options, and its state.

export interface JournalOptions {
  /**
   * A segment that reaches this size is closed, or one of 1 MiB where hardly any wait for the
   * store. Default 4 MiB.
   */
  readonly segmentBytes?: number
  /** Default `closed`. */
  readonly onFailure?: 'closed' | 'open'
  /** Default `os`. */
  readonly sync?: SyncMode
  /**
   * How many records are kept in memory while the disk refuses them. Default 25,000, about 6 MB:
   * more than one segment holds, so that one deleted by others can be kept whole.
   */
  readonly backlogRecords?: number
  /**
   * How many records stay in memory until they are in the store, so that they need not be read
   * back. Default 32,000: about 8 MB, and some two seconds of what one core can serve. 0: none.
   */
  readonly keptRecords?: number
  /** How often a failed disk is tried again. Default 1,000. */
  readonly probeIntervalMs?: number
  readonly report?: ReportLedgerEvent
}

interface JournalState {
  readonly writable: boolean
  /** Why not, in words that are safe to show. */
  readonly reason?: string
  /** Records in memory that wait for the disk. */
  readonly backlog: number
  /** Records that fitted neither the disk nor the backlog, since the start. */
  readonly dropped: number
  readonly unshippedBytes: number
  /** Files that hold what is not shipped yet. */
  readonly segments: number
  /** Lines that could not be read when their segment was shipped, since the start. */
  readonly damagedLines: number
  /** Files that wait for a later version of the gateway, which wrote them. */
  readonly newerSegments: number
}

// A failed write in words: for `/readyz`, for the log and for callers. They hold no path.

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

/** Safe to show to anybody. */
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

/**
 * Moves closed journal segments into the store, from memory where what they hold is still there,
 * and deletes each only after its commit. Must not know SQL: the store hands in `insertMany`, which
 * is idempotent by call id, so that a segment may be shipped twice.
 */

import { statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BatchPart, type CallBatch } from '../core/call-batch.ts'
import { callsUnderWay } from '../core/calls-under-way.ts'
import { LoopTurns } from '../core/loop-turns.ts'
import { backoffMs } from '../core/retry-delay.ts'
import type { ClosedSegments } from './closed-segments.ts'
import type { Journal } from './journal.ts'
import type { ReportLedgerEvent } from './ledger-event.ts'
import { UnreadableLine } from './record-line.ts'
import type { ClosedSegment } from './segment-file.ts'
import { type Damage, SegmentReader } from './segment-reader.ts'

/**
 * With no more than this waiting (some 5,000 calls) nothing hurries: the store pauses after every
 * few records, so that a call never waits long behind them. At 1,000 calls a second it is what the
 * slowest hundredth waited for.
 */
const UNHURRIED_BYTES = 1024 * 1024
const UNHURRIED_PAUSE_MS = 1

const BATCH_RECORDS = 4_096

/**
 * Beside calls, for each half millisecond of work on files, whose records nobody waits for: what it
 * leaves for the collector, which calls do wait for, is spread over more time.
 */
const MOST_REST_MS = 4

const NO_DAMAGE: Damage = { damagedLines: 0, tornEnd: false, newerLines: 0 }

export interface ShipperOptions {
  /** Default 1,000. */
  readonly intervalMs?: number
  /**
   * Records in one insert when many are waiting, at most. Default 4,096: where a server commits,
   * they share a commit.
   */
  readonly batchRecords?: number
  /** Longest pause after failures. Default 30,000. */
  readonly maxBackoffMs?: number
  /**
   * Makes what was inserted outlive a power cut; awaited before a segment is deleted. For a journal
   * with `sync: 'batch'` whose store would otherwise be the weaker of the two.
   */
  readonly syncStore?: () => Promise<void>
  readonly report?: ReportLedgerEvent
  /** Uniform in [0, 1). */
  readonly random?: () => number
}

/** Calls go on while it is awaited. */
export type Between = () => Promise<unknown>

interface ReadOptions {
  readonly between: Between
  /** A line that is no call is passed over, and counted. */
  readonly isEachRead: boolean
}

/** @param between awaited between its steps */
export type InsertMany = (records: CallBatch, between: Between) => Promise<void>

export class Shipper {
  readonly #journal: Journal
  readonly #insertMany: InsertMany
  readonly #intervalMs: number
  readonly #batchRecords: number
  readonly #maxBackoffMs: number
  readonly #syncStore: () => Promise<void>
  readonly #report: ReportLedgerEvent
  readonly #random: () => number
  /** In the store already, but the file could not be deleted yet. */
  readonly #shipped = new WeakMap<ClosedSegment, Damage>()
  /** Segments whose files failed, which the operator has read of. */
  readonly #reported = new WeakSet<ClosedSegment>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #isStarted = false
  #restMs = MOST_REST_MS
  /** So much waited when the file before was begun. */
  #waitingBytes = Number.POSITIVE_INFINITY
  /** So much waited when rests became shorter. */
  #mostBytes = 0

  constructor(journal: Journal, insertMany: InsertMany, options: ShipperOptions = {}) {
    this.#journal = journal
    this.#insertMany = insertMany
    this.#intervalMs = options.intervalMs ?? 1000
    this.#batchRecords = options.batchRecords ?? BATCH_RECORDS
    this.#maxBackoffMs = options.maxBackoffMs ?? 30_000
    this.#syncStore = options.syncStore ?? (() => Promise.resolve())
    this.#report = options.report ?? (() => {})
    this.#random = options.random ?? Math.random
  }

  /**
   * Ships at once what an earlier process left, then at every interval and whenever a segment
   * fills.
   */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#journal.onSegmentFilled(() => {
      if (this.#isStarted && this.#failures === 0 && this.#running === undefined) this.#schedule(0)
    })
    this.#schedule(0)
  }

  /**
   * The store is there again: what waits for the next try is shipped now, for a full disk takes no
   * call until it is. A pass that is under way may have begun before; the next follows soon.
   */
  hurry(): void {
    if (!this.#isStarted || this.#failures === 0) return
    this.#failures = 1
    if (this.#running === undefined) this.#schedule(0)
  }

  /**
   * Stops the schedule and waits for the pass that is under way. Records that are not shipped stay
   * in the journal.
   */
  async stop(): Promise<void> {
    this.#isStarted = false
    clearTimeout(this.#timer)
    await this.#running?.catch(() => {})
  }

  /**
   * Ships everything recorded before this call. Passes never overlap: a call during one waits and
   * makes one more.
   * @throws what `insertMany` or the file system threw; nothing is lost then.
   */
  ship(): Promise<void> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#run()
    this.#next = this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#run()
      })
    return this.#next
  }

  #run(): Promise<void> {
    this.#running = this.#pass().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#tick(), delayMs)
    this.#timer.unref()
  }

  async #tick(): Promise<void> {
    let delayMs = this.#intervalMs
    try {
      await this.ship()
    } catch (cause) {
      // Stuck segments were reported; only a failing store is a reason to wait longer.
      if (this.#failures > 0) {
        const longestMs = this.#maxBackoffMs
        delayMs = backoffMs(this.#failures, { firstMs: delayMs, longestMs }, this.#random)
        this.#report({ type: 'ship-failed', retryInMs: delayMs, cause })
      }
    }
    if (this.#isStarted) this.#schedule(delayMs)
  }

  async #pass(): Promise<void> {
    const stuck = new Map<ClosedSegment, unknown>()
    try {
      this.#journal.lookAfterFile()
      // The active segment is closed only once everything older is in the store: during an outage
      // it goes on to fill instead of leaving a small file per attempt.
      await this.#shipClosed(stuck)
      this.#journal.rotate()
      // That writes the records that waited. Calls are counted once they are written; one that came
      // into the store before it is counted would be read there by other nodes, and count twice.
      await Promise.resolve()
      await this.#shipClosed(stuck)
    } catch (error) {
      this.#failures += 1
      throw error instanceof StoreFailure ? error.cause : error
    }
    if (this.#failures > 0) this.#report({ type: 'ship-recovered' })
    this.#failures = 0
    this.#restMs = MOST_REST_MS
    this.#waitingBytes = Number.POSITIVE_INFINITY
    for (const cause of stuck.values()) throw cause
  }

  /** Adds to `stuck` the segments whose file failed: one of them must not hold up the others. */
  async #shipClosed(stuck: Map<ClosedSegment, unknown>): Promise<void> {
    for (const segment of this.#journal.closed.list()) {
      if (stuck.has(segment)) continue
      try {
        const damage = this.#shipped.get(segment) ?? (await this.#shipSegment(segment))
        this.#shipped.set(segment, damage)
        this.#journal.closed.discard(segment, damage)
      } catch (cause) {
        if (cause instanceof StoreFailure) throw cause
        if (isMissing(cause)) {
          this.#journal.closed.forget(segment)
          continue
        }
        stuck.set(segment, cause)
        if (this.#reported.has(segment)) continue
        this.#reported.add(segment)
        this.#report({ type: 'segment-stuck', path: segment.path, cause })
      }
    }
  }

  async #shipSegment(segment: ClosedSegment): Promise<Damage> {
    const isHurried = this.#journal.closed.bytes > UNHURRIED_BYTES
    const kept = this.#journal.closed.recordsOf(segment)
    const isShipped =
      kept !== undefined && (await this.#shipKept(kept, isHurried ? nextTurn : pause))
    const damage = isShipped
      ? NO_DAMAGE
      : await this.#shipFile(segment, isHurried ? this.#restingTurns() : pause)
    await this.#syncStore().catch(failStore)
    return damage
  }

  /**
   * A node that takes calls faster than it ships them rests half as long with each segment, to not
   * at all, until half of what waited is in the store. Only files are rested after.
   */
  #restingTurns(): Between {
    const { bytes } = this.#journal.closed
    if (bytes >= this.#waitingBytes) {
      this.#restMs = Math.floor(this.#restMs / 2)
      this.#mostBytes = bytes
    } else if (bytes < this.#mostBytes / 2) this.#restMs = MOST_REST_MS
    this.#waitingBytes = bytes
    const turns = new LoopTurns(this.#restMs)
    return () => turns.next()
  }

  /** @returns false where a line cannot be read: what reads the file counts it, and goes on. */
  async #shipKept(records: CallBatch, between: Between): Promise<boolean> {
    try {
      for (let start = 0; start < records.length; start += this.#batchRecords) {
        const count = Math.min(this.#batchRecords, records.length - start)
        const places = Array.from({ length: count }, (_, index) => start + index)
        await this.#insert(new BatchPart(records, places), between)
      }
      return true
    } catch (error) {
      if (isUnreadable(error)) return false
      throw error
    }
  }

  async #shipFile({ path }: ClosedSegment, between: Between): Promise<Damage> {
    try {
      return await this.#shipLines(path, { between, isEachRead: false })
    } catch (error) {
      if (!isUnreadable(error)) throw error
      // Each line is looked at before it is inserted: nothing but damage is worth that.
      return await this.#shipLines(path, { between, isEachRead: true })
    }
  }

  /** @param between of what reads the file and of what inserts meanwhile: they rest together */
  async #shipLines(path: string, { between, isEachRead }: ReadOptions): Promise<Damage> {
    const reader = new SegmentReader(path)
    // The next batch is read meanwhile, for a server of Postgres works by itself, unless calls are
    // served that need the core; one is inserted at a time.
    let inserting: Promise<void> = Promise.resolve()
    try {
      const most = this.#batchRecords
      for await (const lines of reader.batches({ most, isEachRead, between })) {
        await inserting
        inserting = this.#insert(lines, between).then(() => lines.letGo())
        // Heard of with the next one, or at the end.
        inserting.catch(() => {})
        if (callsUnderWay.areServed()) await inserting
      }
    } finally {
      await inserting
    }
    return reader.damage
  }

  async #insert(batch: CallBatch, between: Between): Promise<void> {
    await this.#insertMany(batch, between).catch(failStore)
    // An embedded store inserts without ever leaving the event loop; calls get their turn here.
    await nextTurn()
  }
}

const pause: Between = () => Bun.sleep(UNHURRIED_PAUSE_MS)

/** Tells a failing store, which ends the pass, from a failing file, which does not. */
class StoreFailure extends Error {
  constructor(cause: unknown) {
    super('The store refused a batch.', { cause })
  }
}

/** Told by the store, which reads lines as it inserts them. */
function isUnreadable(error: unknown): boolean {
  return error instanceof StoreFailure && error.cause instanceof UnreadableLine
}

function failStore(cause: unknown): never {
  throw new StoreFailure(cause)
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
}

/**
 * Seconds since the oldest segment that waits for the store was last written to; 0 while none
 * waits.
 */
export function shipperLagSeconds(
  closed: Pick<ClosedSegments, 'list'>,
  nowMs = Date.now(),
): number {
  const [oldest] = closed.list()
  if (oldest === undefined) return 0
  const file = statSync(oldest.path, { throwIfNoEntry: false })
  // Shipped while we looked.
  if (file === undefined) return 0
  return Math.max(0, nowMs - file.mtimeMs) / 1000
}

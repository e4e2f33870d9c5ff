/**
 * Moves closed journal segments into the store, from memory when possible, and deletes each only
 * after its commit. `insertMany` is idempotent by call id, so a segment may be shipped twice.
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
 * Up to this backlog (some 5,000 calls) the store pauses after every few records, so that a call
 * never waits long. At 1,000 calls a second the pauses decide the 99th percentile.
 */
const UNHURRIED_BYTES = 1024 * 1024
const UNHURRIED_PAUSE_MS = 1

const BATCH_RECORDS = 4_096

/**
 * Maximum pause per half millisecond of file work while calls are served. Spreads the garbage of
 * shipping over time, because calls wait for its collection.
 */
const MOST_REST_MS = 4

const NO_DAMAGE: Damage = { damagedLines: 0, tornEnd: false, otherLines: { newer: 0, older: 0 } }

export interface ShipperOptions {
  readonly intervalMs?: number
  /**
   * Maximum records per insert when many records wait. Default 4,096, because on a server the
   * records of an insert share a commit.
   */
  readonly batchRecords?: number
  /** Longest pause after failures. Default 30,000. */
  readonly maxBackoffMs?: number
  /**
   * Makes inserted rows survive a power cut; awaited before a segment is deleted. For a journal
   * with `sync: 'batch'`, whose store would otherwise be less durable.
   */
  readonly syncStore?: () => Promise<void>
  readonly report?: ReportLedgerEvent
  readonly random?: () => number
}

/** Calls are served while this promise is awaited. */
export type Between = () => Promise<unknown>

interface ReadOptions {
  readonly between: Between
  readonly isEachRead: boolean
}

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
  readonly #shipped = new WeakMap<ClosedSegment, Damage>()
  readonly #reported = new WeakSet<ClosedSegment>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #isStarted = false
  #restMs = MOST_REST_MS
  #waitingBytes = Number.POSITIVE_INFINITY
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
   * Ships the segments of an earlier process immediately, then at every interval and whenever a
   * segment is full.
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
   * Ships now instead of at the next interval, because the store is available again and a full disk
   * takes no calls until then.
   */
  hurry(): void {
    if (!this.#isStarted || this.#failures === 0) return
    this.#failures = 1
    if (this.#running === undefined) this.#schedule(0)
  }

  /**
   * Stops the schedule and waits for the pass in progress. Unshipped records stay in the journal.
   */
  async stop(): Promise<void> {
    this.#isStarted = false
    clearTimeout(this.#timer)
    await this.#running?.catch(() => {})
  }

  /**
   * Ships everything recorded before this call. Passes never overlap: a call during a pass waits
   * and makes one more.
   * @throws errors of `insertMany` or the file system; nothing is lost then
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
      // Stuck segments were reported, so only a failing store is a reason to wait longer.
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
      // The active segment is closed only when everything older is in the store. During an outage
      // the segment continues to fill, instead of leaving a small file per attempt.
      await this.#shipClosed(stuck)
      this.#journal.rotate()
      // Calls whose records were just written are counted first. Other nodes would otherwise read
      // such a call from the store, and this node would count the call again.
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

  /** Adds segments whose file failed to `stuck`, so that they do not block the other segments. */
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
   * A node that records faster than it ships halves its pauses with each segment, down to none,
   * until half of the backlog is in the store. Only file work is followed by pauses.
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
      // Decodes each line before inserting. Only damage justifies this cost.
      return await this.#shipLines(path, { between, isEachRead: true })
    }
  }

  async #shipLines(path: string, { between, isEachRead }: ReadOptions): Promise<Damage> {
    const reader = new SegmentReader(path)
    // The next batch is read while a Postgres server inserts, unless calls need the core. Only one
    // insert runs at a time.
    let inserting: Promise<void> = Promise.resolve()
    try {
      const most = this.#batchRecords
      for await (const lines of reader.batches({ most, isEachRead, between })) {
        await inserting
        inserting = this.#insert(lines, between).then(() => lines.letGo())
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
    // An embedded store inserts without leaving the event loop, so the next line yields to calls.
    await nextTurn()
  }
}

const pause: Between = () => Bun.sleep(UNHURRIED_PAUSE_MS)

/** Distinguishes a failing store, which ends the pass, from a failing file, which does not. */
class StoreFailure extends Error {
  constructor(cause: unknown) {
    super('The store refused a batch.', { cause })
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof StoreFailure && error.cause instanceof UnreadableLine
}

function failStore(cause: unknown): never {
  throw new StoreFailure(cause)
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
}

/** Seconds since the last write to the oldest waiting segment; 0 without a waiting segment. */
export function shipperLagSeconds(
  closed: Pick<ClosedSegments, 'list'>,
  nowMs = Date.now(),
): number {
  const [oldest] = closed.list()
  if (oldest === undefined) return 0
  const file = statSync(oldest.path, { throwIfNoEntry: false })
  if (file === undefined) return 0
  return Math.max(0, nowMs - file.mtimeMs) / 1000
}

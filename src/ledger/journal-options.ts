/** What the journal can be told, and what it says of itself. */
import type { ReportLedgerEvent } from './ledger-event.ts'
import type { SyncMode } from './segment-file.ts'

export interface JournalOptions {
  /** A segment that reaches this size is closed. Default 4 MiB. */
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
   * back. Default 32,000: about 13 MB, and some three seconds of what one core can serve. 0: none.
   */
  readonly keptRecords?: number
  /** How often a failed disk is tried again. Default 1,000. */
  readonly probeIntervalMs?: number
  readonly report?: ReportLedgerEvent
}

export interface JournalState {
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

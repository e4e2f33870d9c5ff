/**
 * Events of the ledger that the operator should see. `reason` contains no path; `cause` and `path`
 * may only go to the log.
 */
export type LedgerEvent =
  | { readonly type: 'write-failed'; readonly reason: string; readonly cause: unknown }
  | { readonly type: 'write-recovered'; readonly backlogWritten: number }
  | { readonly type: 'records-dropped'; readonly count: number }
  | { readonly type: 'segment-missing'; readonly path: string }
  | {
      readonly type: 'segment-damaged'
      readonly path: string
      readonly lines: number
      readonly tornEnd: boolean
    }
  /**
   * A segment of another version of the gateway stays, because only that version can ship the
   * segment.
   */
  | {
      readonly type: 'segment-newer' | 'segment-older'
      readonly path: string
      readonly lines: number
    }
  | { readonly type: 'segment-stuck'; readonly path: string; readonly cause: unknown }
  | { readonly type: 'ship-failed'; readonly retryInMs: number; readonly cause: unknown }
  | { readonly type: 'ship-recovered' }

export type ReportLedgerEvent = (event: LedgerEvent) => void

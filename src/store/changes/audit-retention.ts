/**
 * Keeps the audit log from growing for ever: deletes what is older than it may become, an hour
 * apart and a little at a time. Never waited for by anybody.
 */
import { type HourlyOptions, HourlyWork } from '../../core/passes.ts'
import type { RetentionHorizon } from '../../core/retention-horizon.ts'
import type { AuditLogTableStore } from './audit-log.ts'

/** A millisecond or two of the event loop. */
const ROWS_PER_BATCH = 50
const PAUSE_MS = 10

export interface AuditRetentionOptions extends HourlyOptions {
  /** How far a pass may go. */
  readonly horizon: Pick<RetentionHorizon, 'cut'>
  readonly auditLog: Pick<AuditLogTableStore, 'findBounds' | 'deleteBefore'>
}

export class AuditRetention extends HourlyWork {
  readonly #options: AuditRetentionOptions

  constructor(options: AuditRetentionOptions) {
    super(options)
    this.#options = options
  }

  /** One pass. @returns how many rows were deleted @throws what the store threw */
  override async run(): Promise<number> {
    const { auditLog, horizon } = this.#options
    const bounds = await auditLog.findBounds()
    const before = bounds && horizon.cut(bounds)
    if (before === undefined) return 0
    let deleted = 0
    for (;;) {
      const count = await auditLog.deleteBefore(before, ROWS_PER_BATCH)
      deleted += count
      if (count < ROWS_PER_BATCH || this.signal.aborted) return deleted
      await Bun.sleep(PAUSE_MS)
    }
  }
}

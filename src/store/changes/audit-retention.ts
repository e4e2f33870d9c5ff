/**
 * Keeps the audit log from growing for ever: deletes what is older than it may become, an hour
 * apart and a little at a time. Never waited for by anybody.
 */
import type { RetentionHorizon } from '../../core/retention-horizon.ts'
import type { AuditLogTableStore } from './audit-log.ts'

const HOUR_MS = 3_600_000
/** A millisecond or two of the event loop. */
const ROWS_PER_BATCH = 50
const PAUSE_MS = 10

export interface AuditRetentionOptions {
  /** How far a pass may go. */
  readonly horizon: Pick<RetentionHorizon, 'cut'>
  readonly auditLog: Pick<AuditLogTableStore, 'findBounds' | 'deleteBefore'>
  readonly onFailure: (error: unknown) => void
  /** Default an hour. */
  readonly intervalMs?: number
}

export class AuditRetention {
  readonly #options: AuditRetentionOptions
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<unknown> | undefined
  #isStopped = false

  constructor(options: AuditRetentionOptions) {
    this.#options = options
  }

  /** The first pass comes after an interval's sixtieth, so that it never competes with a start. */
  start(): void {
    this.#isStopped = false
    this.#schedule((this.#options.intervalMs ?? HOUR_MS) / 60)
  }

  /** Ends a pass after the batch that it is at. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** One pass. @returns how many rows were deleted @throws what the store threw */
  async run(): Promise<number> {
    const { auditLog, horizon } = this.#options
    const bounds = await auditLog.findBounds()
    const before = bounds && horizon.cut(bounds)
    if (before === undefined) return 0
    let deleted = 0
    for (;;) {
      const count = await auditLog.deleteBefore(before, ROWS_PER_BATCH)
      deleted += count
      if (count < ROWS_PER_BATCH || this.#isStopped) return deleted
      await Bun.sleep(PAUSE_MS)
    }
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.run()
        .then(() => {}, this.#options.onFailure)
        .finally(() => {
          if (!this.#isStopped) this.#schedule(this.#options.intervalMs ?? HOUR_MS)
        })
    }, delayMs)
    this.#timer.unref()
  }
}

/**
 * Adds up what is in segments that wait, while the store is away or behind, so that a start after
 * it need not read every call. A segment that is shipped soon, which is nearly every one, costs
 * nothing. Must not know who ships them.
 */
import { Passes } from '../core/passes.ts'
import type { ClosedSegments } from './closed-segments.ts'
import type { ClosedSegment } from './segment-file.ts'
import { saveSums, sumSegment } from './segment-sums.ts'

/** A start reads what was written since the look before the last one: some thousand calls. */
const LOOK_EVERY_MS = 2_000

export interface WaitingSegmentsOptions {
  readonly closed: Pick<ClosedSegments, 'list' | 'has'>
  /** Default 2,000. */
  readonly intervalMs?: number
}

export class WaitingSegments {
  readonly #closed: WaitingSegmentsOptions['closed']
  readonly #looks: Passes
  /** Looked at, or left by an earlier process: a start adds up those itself. */
  readonly #done: WeakSet<ClosedSegment>
  readonly #seen = new WeakSet<ClosedSegment>()

  constructor({ closed, intervalMs = LOOK_EVERY_MS }: WaitingSegmentsOptions) {
    this.#closed = closed
    this.#done = new WeakSet(closed.list())
    this.#looks = new Passes({
      pass: () => this.look(),
      firstMs: intervalMs,
      pauseMs: intervalMs,
      // A look never rejects.
      onFailure: () => {},
    })
  }

  start(): void {
    this.#looks.start()
  }

  /** Ends a look after the segment that it is at. */
  stop(): Promise<void> {
    return this.#looks.stop()
  }

  /** Adds up what was waiting at the last look already. Never rejects. */
  async look(): Promise<void> {
    for (const segment of this.#closed.list()) {
      if (this.#looks.signal.aborted) return
      if (this.#done.has(segment)) continue
      if (!this.#seen.has(segment)) {
        this.#seen.add(segment)
        continue
      }
      this.#done.add(segment)
      await this.#addUp(segment)
    }
  }

  async #addUp(segment: ClosedSegment): Promise<void> {
    try {
      const found = await sumSegment(segment.path)
      if (found !== undefined) await saveSums(segment, found, () => this.#closed.has(segment))
    } catch {
      // It was shipped meanwhile, or cannot be read: whoever ships it tells what became of the
      // file.
    }
  }
}

/**
 * What earlier processes have used: the rows in the store and those that still wait in the journal, each once. Asked at start,
 * before anything is shipped; must not know what the sums are for.
 */
import type { CallRecord } from '../core/call.ts'
import type { CallId } from '../core/ids.ts'
import type { Prices } from '../gateway/ports.ts'
import type { UsageSum, UsageSums } from '../store/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'

export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'findShipped'>
  readonly segments: readonly ClosedSegment[]
  /** What the rows that are not in the store cost; absent: nobody knows. */
  readonly prices?: Prices | undefined
  /** Nobody needs the sums any more: what is under way rejects. */
  readonly signal?: AbortSignal | undefined
  /** Told of a segment that cannot be read: what it holds is not counted. */
  readonly onUnreadable: (path: string, cause: unknown) => void
}

export class PastUsage {
  readonly #sums: PastUsageOptions['sums']
  readonly #unshipped: readonly CallRecord[]
  readonly #prices: Prices | undefined
  readonly #signal: AbortSignal | undefined
  readonly #known = new Map<number, Promise<readonly UsageSum[]>>()

  private constructor({ sums, prices, signal }: PastUsageOptions, unshipped: readonly CallRecord[]) {
    this.#sums = sums
    this.#prices = prices
    this.#signal = signal
    this.#unshipped = unshipped
  }

  static async open(options: PastUsageOptions): Promise<PastUsage> {
    const { sums, segments, signal, onUnreadable } = options
    // By id: a batch whose write failed half-way stands in the next segment again.
    const unshipped = new Map<CallId, CallRecord>()
    for (const { path } of segments) {
      signal?.throwIfAborted()
      try {
        for await (const records of new SegmentReader(path).records()) {
          const shipped = await sums.findShipped(records.map((record) => record.id))
          for (const record of records) if (!shipped.has(record.id)) unshipped.set(record.id, record)
        }
      } catch (cause) {
        onUnreadable(path, cause)
      }
    }
    return new PastUsage(options, [...unshipped.values()])
  }

  /** @param fromMs of calls that began then or later, in milliseconds since the Unix epoch */
  since(fromMs: number): Promise<readonly UsageSum[]> {
    const known = this.#known.get(fromMs)
    if (known !== undefined) return known
    const waiting = this.#unshipped
      .filter((record) => record.startedAt >= fromMs)
      .map((record) => toSum(record, this.#prices))
    const all = this.#sums.since(fromMs, this.#signal).then((stored) => [...stored, ...waiting])
    this.#known.set(fromMs, all)
    return all
  }
}

function toSum(record: CallRecord, prices: Prices | undefined): UsageSum {
  const { accountId, keyId, gateId, target, credential, usage } = record
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
  const microUsd = prices?.priceOf(record).microUsd ?? null
  const unpricedCalls = microUsd === null && tokens > 0 ? 1 : 0
  return { accountId, keyId, gateId, target, credential, tokens, microUsd: microUsd ?? 0, unpricedCalls }
}

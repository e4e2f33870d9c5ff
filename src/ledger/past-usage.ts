/**
 * What earlier processes have used: what is in the store and what still waits in the journal, each call once. Asked at start,
 * before anything is shipped; must not know what the sums are for.
 */
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { BudgetBeginning, BudgetBeginnings } from '../store/budget-beginnings.ts'
import type { UsageSum, UsageSums } from '../store/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'

export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'within' | 'findShipped'>
  readonly beginnings: Pick<BudgetBeginnings, 'load'>
  readonly segments: readonly ClosedSegment[]
  /** What the calls cost that are neither in the store nor priced; absent: nobody knows. */
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
  readonly #beginnings: PastUsageOptions['beginnings']
  /** By the hour that they begin with, and the account. */
  readonly #known = new Map<string, Promise<readonly UsageSum[]>>()

  private constructor(options: PastUsageOptions, unshipped: readonly CallRecord[]) {
    const { sums, beginnings, prices, signal } = options
    this.#sums = sums
    this.#beginnings = beginnings
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

  /**
   * @param fromMs of calls that began then or later, in milliseconds since the Unix epoch. Within an hour the calls of the
   *   rest of that hour are asked for themselves, which retention may have deleted: see `budgetBeginnings`
   * @param accountId absent: of every account, and `fromMs` has to be at the beginning of an hour
   */
  async since(fromMs: number, accountId?: AccountId): Promise<readonly UsageSum[]> {
    const hour = hourOf(fromMs)
    const isWhole = hour.startsAtMs === fromMs || accountId === undefined
    const sums = [...(await this.#ofHoursSince(isWhole ? hour.startsAtMs : hour.endsAtMs, accountId))]
    if (!isWhole) sums.push(...(await this.#sums.within(accountId, fromMs, hour.endsAtMs)))
    for (const record of this.#unshipped)
      if (record.startedAt >= fromMs && (accountId === undefined || record.accountId === accountId))
        sums.push(toSum(record, this.#prices))
    return sums
  }

  /** By budget id: what it used up to the end of the hour of its creation, where those calls are deleted. */
  budgetBeginnings(): Promise<ReadonlyMap<string, BudgetBeginning>> {
    return this.#beginnings.load()
  }

  #ofHoursSince(fromMs: number, accountId: AccountId | undefined): Promise<readonly UsageSum[]> {
    const key = `${fromMs} ${accountId ?? ''}`
    const known = this.#known.get(key) ?? this.#sums.since({ fromMs, accountId }, this.#signal)
    this.#known.set(key, known)
    return known
  }
}

function toSum(record: CallRecord, prices: Prices | undefined): UsageSum {
  const { accountId, keyId, gateId, target, credential, usage } = record
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
  const microUsd = (record.cost ?? prices?.priceOf(record))?.microUsd ?? null
  const unpricedCalls = microUsd === null && usage !== null ? 1 : 0
  return { accountId, keyId, gateId, target, credential, tokens, microUsd: microUsd ?? 0, unpricedCalls }
}

/**
 * What earlier processes have used: what is in the store and what still waits in the journal, each call once. Asked at start,
 * before anything is shipped; must not know what the sums are for.
 */
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { BudgetBeginning, BudgetBeginnings } from '../store/budget-beginnings.ts'
import type { SummedRange, UsageSum, UsageSums } from '../store/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'

export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'within' | 'findShipped'>
  readonly beginnings: Pick<BudgetBeginnings, 'load'>
  readonly segments: readonly ClosedSegment[]
  /** Where `since` will be asked to begin, other than at the beginning of an hour. */
  readonly cutsMs?: readonly number[]
  /** What the calls cost that are neither in the store nor priced; absent: nobody knows. */
  readonly prices?: Prices | undefined
  /** Nobody needs the sums any more: what is under way rejects. */
  readonly signal?: AbortSignal | undefined
  /** Told of a segment that cannot be read: what it holds is not counted. */
  readonly onUnreadable: (path: string, cause: unknown) => void
}

export class PastUsage {
  readonly #sums: PastUsageOptions['sums']
  readonly #unshipped: UnshippedSums
  readonly #signal: AbortSignal | undefined
  readonly #beginnings: PastUsageOptions['beginnings']
  /** By the hours that they begin and end with, and the account. */
  readonly #known = new Map<string, Promise<readonly UsageSum[]>>()

  private constructor(options: PastUsageOptions, unshipped: UnshippedSums) {
    const { sums, beginnings, signal } = options
    this.#sums = sums
    this.#beginnings = beginnings
    this.#signal = signal
    this.#unshipped = unshipped
  }

  static async open(options: PastUsageOptions): Promise<PastUsage> {
    const { sums, segments, signal, onUnreadable, prices, cutsMs = [] } = options
    // Added up, and not kept: after a long outage there may be millions.
    const unshipped = new UnshippedSums(cutsMs, prices)
    // A batch whose write failed half-way stands in the next segment again.
    let before: ReadonlySet<CallId> = new Set()
    for (const { path } of segments) {
      signal?.throwIfAborted()
      const here = new Set<CallId>()
      try {
        const reader = new SegmentReader(path)
        for await (const records of reader.records()) {
          const shipped = await sums.findShipped(records.map((record) => record.id))
          for (const record of records) {
            if (shipped.has(record.id) || before.has(record.id) || here.has(record.id)) continue
            here.add(record.id)
            unshipped.add(record)
          }
        }
        if (reader.damage.newerLines > 0)
          onUnreadable(path, new Error('A later version of the gateway has written it.'))
      } catch (cause) {
        onUnreadable(path, cause)
      }
      before = here
    }
    return new PastUsage(options, unshipped)
  }

  /**
   * @param fromMs of calls that began then or later, in milliseconds since the Unix epoch. Within an hour the calls of the
   *   rest of that hour are asked for themselves, which retention may have deleted: see `budgetBeginnings`
   * @param accountId absent: of every account, and `fromMs` has to be at the beginning of an hour
   * @param untilMs at the beginning of an hour, which is left out; absent: however late they began, on whatever clock
   */
  async since(fromMs: number, accountId?: AccountId, untilMs?: number): Promise<readonly UsageSum[]> {
    const hour = hourOf(fromMs)
    const isWhole = hour.startsAtMs === fromMs || accountId === undefined
    const ofHours = { fromMs: isWhole ? hour.startsAtMs : hour.endsAtMs, accountId, untilMs }
    const sums = [...(await this.#ofHoursSince(ofHours))]
    if (!isWhole) sums.push(...(await this.#sums.within(accountId, fromMs, hour.endsAtMs)))
    sums.push(...this.#unshipped.since(fromMs, accountId, untilMs))
    return sums
  }

  /** By budget id: what it used up to the end of the hour of its creation, where those calls are deleted. */
  budgetBeginnings(): Promise<ReadonlyMap<string, BudgetBeginning>> {
    return this.#beginnings.load()
  }

  #ofHoursSince(range: SummedRange): Promise<readonly UsageSum[]> {
    const key = `${range.fromMs} ${range.untilMs} ${range.accountId ?? ''}`
    const known = this.#known.get(key) ?? this.#sums.since(range, this.#signal)
    this.#known.set(key, known)
    return known
  }
}

/** What the journal holds, added up by the stretch of time in which the calls began: hours, cut where somebody asks. */
class UnshippedSums {
  /** By the hour that they are in, the latest first. */
  readonly #cutsMs = new Map<number, number[]>()
  readonly #prices: Prices | undefined
  readonly #sums = new Map<string, { readonly fromMs: number; sum: UsageSum }>()

  constructor(cutsMs: readonly number[], prices: Prices | undefined) {
    for (const cutMs of [...cutsMs].sort((one, other) => other - one)) {
      const { startsAtMs } = hourOf(cutMs)
      const ofHour = this.#cutsMs.get(startsAtMs)
      if (ofHour === undefined) this.#cutsMs.set(startsAtMs, [cutMs])
      else ofHour.push(cutMs)
    }
    this.#prices = prices
  }

  add(record: CallRecord): void {
    const { startedAt } = record
    const { startsAtMs } = hourOf(startedAt)
    const fromMs = this.#cutsMs.get(startsAtMs)?.find((cutMs) => cutMs <= startedAt) ?? startsAtMs
    const sum = toSum(record, this.#prices)
    const { accountId, keyId, gateId, target, credential } = sum
    const key = JSON.stringify([fromMs, accountId, keyId, gateId, target, credential])
    const known = this.#sums.get(key)
    if (known === undefined) this.#sums.set(key, { fromMs, sum })
    else
      known.sum = {
        ...sum,
        tokens: known.sum.tokens + sum.tokens,
        microUsd: known.sum.microUsd + sum.microUsd,
        unpricedCalls: known.sum.unpricedCalls + sum.unpricedCalls,
      }
  }

  since(
    fromMs: number,
    accountId: AccountId | undefined,
    untilMs = Number.POSITIVE_INFINITY,
  ): readonly UsageSum[] {
    return [...this.#sums.values()]
      .filter((of) => of.fromMs >= fromMs && of.fromMs < untilMs)
      .filter(({ sum }) => accountId === undefined || sum.accountId === accountId)
      .map(({ sum }) => sum)
  }
}

function toSum(record: CallRecord, prices: Prices | undefined): UsageSum {
  const { accountId, keyId, gateId, target, credential, usage } = record
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
  const microUsd = (record.cost ?? prices?.priceOf(record))?.microUsd ?? null
  const unpricedCalls = microUsd === null && usage !== null ? 1 : 0
  return { accountId, keyId, gateId, target, credential, tokens, microUsd: microUsd ?? 0, unpricedCalls }
}

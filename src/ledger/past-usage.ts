/**
 * What earlier processes have used: what is in the store and what still waits in the journal, each call once. Asked at start,
 * before anything is shipped; must not know what the sums are for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { BudgetBeginnings } from '../store/budget-beginnings.ts'
import type { ScopedRange, UsedAmounts } from '../store/sum-call-rows.ts'
import type { UsageSum, UsageSums } from '../store/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'

/** So many, and what the reader hands over at a time, are looked for in the store at once: a millisecond of the event loop. */
const RECORDS_PER_QUESTION = 400

export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'ofRanges' | 'within' | 'findShipped'>
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
        for await (const records of gather(reader.records())) {
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
   * @param fromMs of calls that began then or later, in milliseconds since the Unix epoch, at the beginning of an hour
   * @param accountId absent: of every account, and keys and gates may be one sum
   * @param untilMs at the beginning of an hour, which is left out; absent: however late they began, on whatever clock
   */
  async since(fromMs: number, accountId?: AccountId, untilMs?: number): Promise<readonly UsageSum[]> {
    const stored = await this.#sums.since({ fromMs, accountId, untilMs }, this.#signal)
    return [...stored, ...this.#unshipped.since(fromMs, accountId, untilMs)]
  }

  /**
   * What each of these stretches of time of one account used. One that begins within an hour asks for the calls of the rest
   * of that hour themselves, which retention may have deleted: see `budgetBeginnings`.
   * @param ranges they end at the beginning of an hour, or never
   */
  async ofRanges(accountId: AccountId, ranges: readonly ScopedRange[]): Promise<readonly UsedAmounts[]> {
    const ofHours = await this.#sums.ofRanges(accountId, ranges.map(toWholeHours), this.#signal)
    const found: UsedAmounts[] = []
    for (const [index, range] of ranges.entries()) {
      const hour = hourOf(range.fromMs)
      const parts = [
        ...ofHours.slice(index, index + 1),
        ...this.#unshipped
          .since(range.fromMs, accountId, range.untilMs)
          .filter(({ keyId, gateId }) =>
            range.keyId === undefined ? gateId === range.gateId : keyId === range.keyId,
          ),
      ]
      if (hour.startsAtMs !== range.fromMs)
        parts.push(await this.#sums.within({ ...range, accountId, untilMs: hour.endsAtMs }))
      found.push(addUp(parts))
      this.#signal?.throwIfAborted()
      await nextTurn()
    }
    return found
  }

  /** By budget id: what it used up to the end of the hour of its creation, where those calls are deleted. */
  budgetBeginnings(): Promise<ReadonlyMap<string, UsedAmounts>> {
    return this.#beginnings.load()
  }
}

/** A statement for each of the reader's small parts would be most of the time on a database over a network. */
async function* gather(parts: AsyncIterable<readonly CallRecord[]>): AsyncGenerator<readonly CallRecord[]> {
  let gathered: CallRecord[] = []
  for await (const part of parts) {
    gathered.push(...part)
    if (gathered.length < RECORDS_PER_QUESTION) continue
    yield gathered
    gathered = []
  }
  if (gathered.length > 0) yield gathered
}

function toWholeHours(range: ScopedRange): ScopedRange {
  const { startsAtMs, endsAtMs } = hourOf(range.fromMs)
  return startsAtMs === range.fromMs ? range : { ...range, fromMs: endsAtMs }
}

function addUp(parts: readonly UsedAmounts[]): UsedAmounts {
  const sum = { tokens: 0, microUsd: 0, unpricedCalls: 0 }
  for (const { tokens, microUsd, unpricedCalls } of parts) {
    sum.tokens += tokens
    sum.microUsd += microUsd
    sum.unpricedCalls += unpricedCalls
  }
  return sum
}

/** What the journal holds, added up by the stretch of time in which the calls began: hours, cut where somebody asks. */
class UnshippedSums {
  /** By the hour that they are in, the latest first. */
  readonly #cutsMs = new Map<number, number[]>()
  readonly #prices: Prices | undefined
  /** By account, then by place and time. */
  readonly #sums = new Map<AccountId, Map<string, { readonly fromMs: number; sum: UsageSum }>>()

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
    const ofAccount = this.#sums.get(accountId) ?? new Map<string, { fromMs: number; sum: UsageSum }>()
    this.#sums.set(accountId, ofAccount)
    const key = JSON.stringify([fromMs, keyId, gateId, target, credential])
    const known = ofAccount.get(key)
    if (known === undefined) ofAccount.set(key, { fromMs, sum })
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
    const accounts = accountId === undefined ? [...this.#sums.keys()] : [accountId]
    return accounts
      .flatMap((id) => [...(this.#sums.get(id)?.values() ?? [])])
      .filter((of) => of.fromMs >= fromMs && of.fromMs < untilMs)
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

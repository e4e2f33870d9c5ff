/**
 * The usage of earlier processes, from the store and the journal, each call once. Used at start,
 * before anything is shipped; must not know what the sums are for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { BudgetBeginnings } from '../store/usage/budget-beginnings.ts'
import type { ScopedRange, UsedAmounts } from '../store/usage/sum-call-rows.ts'
import type { UsageSum, UsageSums } from '../store/usage/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'
import { UnshippedSums } from './unshipped-sums.ts'

/**
 * How many records are looked up in the store at once, and handed over by the reader: a millisecond
 * of the event loop.
 */
const RECORDS_PER_QUESTION = 400
export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'ofRanges' | 'within' | 'findShipped'>
  readonly beginnings: Pick<BudgetBeginnings, 'load'>
  readonly segments: readonly ClosedSegment[]
  /** Times, besides full hours, at which later calls of `since` will start. */
  readonly cutsMs?: readonly number[]
  /** Prices calls that are neither in the store nor priced. Undefined: they stay unpriced. */
  readonly prices?: Prices | undefined
  /** The sums are no longer needed: work in progress rejects. */
  readonly signal?: AbortSignal | undefined
  /** Called for an unreadable segment, whose contents are not counted. */
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

  /** @throws the store's errors (rejects): an unavailable store must not lead to incomplete sums */
  static async open(options: PastUsageOptions): Promise<PastUsage> {
    const { segments, signal, prices, cutsMs = [] } = options
    // Records are summed and not kept, because there may be millions after a long outage.
    const unshipped = new UnshippedSums(cutsMs, prices)
    let before: ReadonlySet<CallId> = new Set()
    for (const segment of segments) {
      signal?.throwIfAborted()
      before = await addCalls(segment, { ...options, unshipped, before })
    }
    return new PastUsage(options, unshipped)
  }

  /**
   * @param fromMs calls that began at or after this time, in milliseconds since the Unix epoch, at
   * the beginning of an hour
   * @param accountId undefined: all accounts; keys and gates may then be one sum
   * @param untilMs exclusive, at the beginning of an hour; undefined: no limit, even for calls in
   * the future of a wrong clock
   */
  async since(
    fromMs: number,
    accountId?: AccountId,
    untilMs?: number,
  ): Promise<readonly UsageSum[]> {
    const stored = await this.#sums.since({ fromMs, accountId, untilMs }, this.#signal)
    return [...stored, ...this.#unshipped.since(fromMs, accountId, untilMs)]
  }

  /**
   * The usage of one account in each of the ranges. For a range that begins within an hour, the
   * calls of the rest of that hour are read, which retention may have deleted: see
   * `budgetBeginnings`.
   * @param ranges each ends at the beginning of an hour, or never
   */
  async ofRanges(
    accountId: AccountId,
    ranges: readonly ScopedRange[],
  ): Promise<readonly UsedAmounts[]> {
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

  /**
   * By budget id: usage up to the end of the hour of its creation when those calls are deleted,
   * plus later hours of that day that are deleted as well.
   */
  budgetBeginnings(): Promise<ReadonlyMap<string, UsedAmounts>> {
    return this.#beginnings.load()
  }
}

interface Reading extends PastUsageOptions {
  readonly unshipped: UnshippedSums
  /** Call ids seen before: a batch whose write failed midway is repeated in the next segment. */
  readonly before: ReadonlySet<CallId>
}

/** @returns the calls that were added */
async function addCalls({ path }: ClosedSegment, reading: Reading): Promise<ReadonlySet<CallId>> {
  const { sums, unshipped, before, onUnreadable } = reading
  const here = new Set<CallId>()
  const reader = new SegmentReader(path)
  const parts = gather(reader.records())
  for (;;) {
    const records = await parts.next().catch((cause: unknown) => onUnreadable(path, cause))
    if (records === undefined || records.done) break
    const shipped = await sums.findShipped(records.value.map((record) => record.id))
    for (const record of records.value) {
      if (shipped.has(record.id) || before.has(record.id) || here.has(record.id)) continue
      here.add(record.id)
      unshipped.add(record)
    }
  }
  const { newer, older } = reader.damage.otherLines
  if (newer + older > 0)
    onUnreadable(path, new Error('Another version of the gateway has written it.'))
  return here
}

/**
 * Combines the reader's small parts: a statement for each would dominate the time on a database
 * over a network.
 */
async function* gather(
  parts: AsyncIterable<readonly CallRecord[]>,
): AsyncGenerator<readonly CallRecord[]> {
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
  const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  for (const { tokens, nanoUsd, unpricedCalls } of parts) {
    sum.tokens += tokens
    sum.nanoUsd += nanoUsd
    sum.unpricedCalls += unpricedCalls
  }
  return sum
}

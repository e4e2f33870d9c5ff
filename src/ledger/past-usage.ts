/**
 * The usage of earlier processes, from the store and the journal, each call once. Used at start,
 * before anything is shipped.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { BudgetBeginnings } from '../store/usage/budget-beginnings.ts'
import type { ScopedRange, UsedAmounts } from '../store/usage/sum-call-rows.ts'
import { isOfCaller, type UsageSum, type UsageSums } from '../store/usage/usage-sums.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'

/** Records per look-up in the store, and per part of the reader: 1 ms of the event loop. */
const RECORDS_PER_QUESTION = 400
export interface PastUsageOptions {
  readonly sums: Pick<UsageSums, 'since' | 'ofRanges' | 'within' | 'findShipped'>
  readonly beginnings: Pick<BudgetBeginnings, 'load'>
  readonly segments: readonly ClosedSegment[]
  readonly cutsMs?: readonly number[]
  /** Prices calls that are neither in the store nor priced. Undefined: such calls stay unpriced. */
  readonly prices?: Prices | undefined
  readonly signal?: AbortSignal | undefined
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
    // Records are summed and not kept, because a long outage may leave millions.
    const unshipped = new UnshippedSums(cutsMs, prices)
    let before: ReadonlySet<CallId> = new Set()
    for (const segment of segments) {
      signal?.throwIfAborted()
      before = await addCalls(segment, { ...options, unshipped, before })
    }
    return new PastUsage(options, unshipped)
  }

  /**
   * @param fromMs the beginning of an hour, in milliseconds since the Unix epoch
   * @param accountId undefined sums all accounts
   * @param untilMs exclusive, at the beginning of an hour; undefined includes calls in the future
   * of a wrong clock
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
   * The usage of an account in each of the ranges. A range that begins or ends within an hour reads
   * the calls of that hour, which retention may have deleted: see `budgetBeginnings`.
   */
  async ofRanges(
    accountId: AccountId,
    ranges: readonly ScopedRange[],
  ): Promise<readonly UsedAmounts[]> {
    const ofHours = await this.#sums.ofRanges(accountId, ranges.map(toWholeHours), this.#signal)
    const found: UsedAmounts[] = []
    for (const [index, range] of ranges.entries()) {
      const parts = [
        ...ofHours.slice(index, index + 1),
        ...this.#unshipped
          .since(range.fromMs, accountId, range.untilMs)
          .filter((sum) => isWithin(range, sum)),
      ]
      for (const part of toPartsOfHours(range))
        parts.push(await this.#sums.within({ ...part, accountId }))
      found.push(addUp(parts))
      this.#signal?.throwIfAborted()
      await nextTurn()
    }
    return found
  }

  /**
   * By budget id: the budget's usage on the day of its creation, as far as those calls and hours
   * are deleted.
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
    onUnreadable(path, new Error('Another version of the gateway has written the journal.'))
  return here
}

/**
 * Combines the reader's small parts, since a statement for each part would dominate the time on a
 * database over a network.
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

function isWithin(
  { keyId, gateId, userId, tagId }: ScopedRange,
  { user, tags, ...sum }: UnshippedSum,
): boolean {
  if (keyId !== undefined) return sum.keyId === keyId
  if (gateId !== undefined) return sum.gateId === gateId
  if (userId !== undefined) return user === userId
  return tagId === undefined || tags?.split(' ').includes(tagId) === true
}

/** The end may be infinite. */
function toWholeHours(range: ScopedRange): ScopedRange {
  if (isOfCaller(range)) return range
  const { startsAtMs, endsAtMs } = hourOf(range.fromMs)
  const fromMs = startsAtMs === range.fromMs ? startsAtMs : endsAtMs
  const untilMs = Number.isFinite(range.untilMs) ? hourOf(range.untilMs).startsAtMs : range.untilMs
  return { ...range, fromMs, untilMs: Math.max(fromMs, untilMs) }
}

function toPartsOfHours(range: ScopedRange): readonly ScopedRange[] {
  const whole = toWholeHours(range)
  return [
    { ...range, untilMs: Math.min(whole.fromMs, range.untilMs) },
    { ...range, fromMs: whole.untilMs },
  ].filter(({ fromMs, untilMs }) => fromMs < untilMs)
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

interface UnshippedSum extends UsageSum, Pick<CallRecord, 'keyId' | 'gateId' | 'user' | 'tags'> {}

export class UnshippedSums {
  readonly #cutsMs = new Map<number, number[]>()
  readonly #prices: Prices | undefined
  readonly #sums = new Map<AccountId, Map<string, UnshippedStretch>>()

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
    this.#addTo(this.#stretchOf(record.startedAt), toSum(record, this.#prices))
  }

  since(
    fromMs: number,
    accountId: AccountId | undefined,
    untilMs = Number.POSITIVE_INFINITY,
  ): readonly UnshippedSum[] {
    const accounts = accountId === undefined ? [...this.#sums.keys()] : [accountId]
    return accounts
      .flatMap((id) => [...(this.#sums.get(id)?.values() ?? [])])
      .filter((of) => of.fromMs >= fromMs && of.fromMs < untilMs)
      .map(({ sum }) => sum)
  }

  #stretchOf(timeMs: number): number {
    const { startsAtMs } = hourOf(timeMs)
    return this.#cutsMs.get(startsAtMs)?.find((cutMs) => cutMs <= timeMs) ?? startsAtMs
  }

  #addTo(fromMs: number, sum: UnshippedSum): void {
    const { accountId } = sum
    const ofAccount = this.#sums.get(accountId) ?? new Map<string, UnshippedStretch>()
    this.#sums.set(accountId, ofAccount)
    const key = placeOf(fromMs, sum)
    const known = ofAccount.get(key)
    if (known === undefined) ofAccount.set(key, { fromMs, sum })
    else known.sum = addSums(known.sum, sum)
  }
}

interface UnshippedStretch {
  readonly fromMs: number
  sum: UnshippedSum
}

function placeOf(
  fromMs: number,
  { keyId, gateId, target, credential, user, tags }: UnshippedSum,
): string {
  return JSON.stringify([fromMs, keyId, gateId, target, credential, user, tags])
}

function addSums(sum: UnshippedSum, other: UnshippedSum): UnshippedSum {
  return {
    ...sum,
    tokens: sum.tokens + other.tokens,
    nanoUsd: sum.nanoUsd + other.nanoUsd,
    unpricedCalls: sum.unpricedCalls + other.unpricedCalls,
  }
}

function toSum(record: CallRecord, prices: Prices | undefined): UnshippedSum {
  const { accountId, keyId, gateId, target, credential, usage, user, tags } = record
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
  const nanoUsd = (record.cost ?? prices?.priceOf(record))?.nanoUsd ?? null
  const unpricedCalls = nanoUsd === null && usage !== null ? 1 : 0
  return {
    accountId,
    keyId,
    gateId,
    target,
    credential,
    user,
    tags,
    tokens,
    nanoUsd: nanoUsd ?? 0,
    unpricedCalls,
  }
}

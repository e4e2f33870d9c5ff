/**
 * Sums calls to rows of usage. Calls with the dimensions of the previous call cost only a few
 * comparisons, because thousands of calls are summed per second.
 */
import type { CallRecord } from '../../core/call.ts'
import { NOTHING_SENT } from '../../core/cost.ts'
import type { GateId, KeyId } from '../../core/ids.ts'
import type { CallerCounters, CounterColumns, UsageTable } from '../schema.ts'
import { TimeCounts } from './latency-histogram.ts'
import { COUNTERS, type Dimensions, HOUR_MS, NO_USAGE } from './usage-columns.ts'

/** Skips calls that were refused before admission, because such calls used nothing. */
export function sumCalls(calls: readonly CallRecord[]): UsageTable[] {
  const sums = new CallSums()
  sums.add(calls)
  return sums.toRows()
}

export class CallSums {
  /** Nested maps, because building a text key would cause half of the garbage of a call. */
  readonly #sums = new Map<KeyId, Map<GateId | null, DimensionSum[]>>()
  #last: DimensionSum | undefined

  add(calls: readonly CallRecord[]): void {
    for (const call of calls) {
      if (call.refusals !== undefined) continue
      if (this.#last === undefined || !this.#last.takes(call)) this.#last = this.#find(call)
      this.#last.add(call)
    }
  }

  toRows(): UsageTable[] {
    const rows: UsageTable[] = []
    for (const ofKey of this.#sums.values())
      for (const sums of ofKey.values()) for (const sum of sums) rows.push(sum.toRow())
    return rows
  }

  #find(call: CallRecord): DimensionSum {
    const { keyId, gateId } = call
    const ofKey = this.#sums.get(keyId) ?? new Map<GateId | null, DimensionSum[]>()
    const sums = ofKey.get(gateId) ?? []
    const known = sums.find((sum) => sum.takes(call))
    if (known !== undefined) return known
    const sum = new DimensionSum(dimensionsOf(call))
    sums.push(sum)
    ofKey.set(gateId, sums)
    this.#sums.set(keyId, ofKey)
    return sum
  }
}

class DimensionSum {
  readonly #row: UsageTable
  readonly #durations = new TimeCounts()
  readonly #firstBytes = new TimeCounts()

  constructor(dimensions: Dimensions) {
    this.#row = emptyRow(dimensions)
  }

  takes(call: CallRecord): boolean {
    const row = this.#row
    const sinceStartMs = call.startedAt - row.starts_at
    return (
      sinceStartMs >= 0 &&
      sinceStartMs < HOUR_MS &&
      Math.floor(call.status / 100) === row.status_class &&
      (call.credential ?? '') === row.credential &&
      call.keyId === row.key_id &&
      call.gateId === row.gate_id &&
      (call.target ?? '') === row.target &&
      call.accountId === row.account_id
    )
  }

  add(call: CallRecord): void {
    addCall(this.#row, call)
    this.#durations.add(Math.round(call.durationMs))
    if (call.firstByteMs !== null) this.#firstBytes.add(Math.round(call.firstByteMs))
  }

  /** The row itself, not a copy: further calls change the row. */
  toRow(): UsageTable {
    this.#row.durations = this.#durations.encode()
    this.#row.first_bytes = this.#firstBytes.encode()
    return this.#row
  }
}

/** The differences that corrected costs make, in rows to add to the hours and days. */
export class CorrectionSums {
  readonly #rows = new Map<string, UsageTable>()

  add(before: CallRecord, after: CallRecord): void {
    if (before.refusals !== undefined) return
    const dimensions = dimensionsOf(after)
    const key = JSON.stringify(Object.values(dimensions))
    const row = this.#rows.get(key) ?? emptyRow(dimensions)
    this.#rows.set(key, row)
    const [taken, added] = [{ ...NO_USAGE }, { ...NO_USAGE }]
    addCall(taken, before)
    addCall(added, after)
    for (const name of COUNTERS) row[name] += added[name] - taken[name]
  }

  toRows(): UsageTable[] {
    return [...this.#rows.values()]
  }
}

function dimensionsOf(call: CallRecord): Dimensions {
  return {
    account_id: call.accountId,
    starts_at: Math.floor(call.startedAt / HOUR_MS) * HOUR_MS,
    gate_id: call.gateId,
    target: call.target ?? '',
    key_id: call.keyId,
    status_class: Math.floor(call.status / 100),
    credential: call.credential ?? '',
  }
}

function emptyRow(dimensions: Dimensions): UsageTable {
  return { ...dimensions, ...NO_USAGE, durations: '', first_bytes: '' }
}

export function addCall(row: CounterColumns, { usage, cost, outcome }: CallRecord): void {
  row.calls += 1
  if (outcome === 'failed') row.failed += 1
  if (outcome === 'cancelled') row.cancelled += 1
  // Failed calls have a separate count, and a call that sent nothing has nothing to report.
  const isFailedEmpty = outcome === 'failed' && usage === null
  if (usage === null && !isFailedEmpty && cost?.source !== NOTHING_SENT.source) row.unreported += 1
  row.input_tokens += usage?.inputTokens ?? 0
  row.output_tokens += usage?.outputTokens ?? 0
  row.cached_input_tokens += usage?.cachedInputTokens ?? 0
  row.reasoning_tokens += usage?.reasoningTokens ?? 0
  row.cache_write_tokens += usage?.cacheWriteTokens ?? 0
  row.cost_nano_usd += cost?.nanoUsd ?? 0
  if (cost?.status === 'estimated') row.cost_estimated += 1
  const isUnknown = cost === undefined || cost.status === 'unknown'
  if (isUnknown && !isFailedEmpty) row.cost_unknown += 1
}

export function addCallerCall(row: CallerCounters, call: CallRecord): void {
  addCall(row, call)
  const isOfCaller = call.status >= 400 && call.status < 500
  if (call.outcome === 'failed' && call.target === null && isOfCaller) row.refused += 1
}

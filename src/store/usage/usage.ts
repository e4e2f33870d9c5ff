/**
 * Reads the roll-ups: calls, tokens, costs and percentiles of an account over time. Must not read
 * single calls.
 */
import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import type { Schema } from '../schema.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { type RefusedQuery, type RefusedSum, readRefused } from './refused-calls.ts'
import type { UsageBacklog } from './usage-backlog.ts'
import { type RollUpOptions, rollUpDays } from './usage-days.ts'
import { type LatencyStep, SummingTurns, sumLatencies } from './usage-latencies.ts'
import {
  readUsageRows,
  SUMMED,
  type SummedRow,
  toStart,
  type UsageGroup,
  type UsageQuery,
} from './usage-rows.ts'

export interface LatencyPercentiles {
  /** Milliseconds, within 2 % of the exact ones; null where there was nothing to measure. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface UsageSum {
  /** The beginning of the hour, day or month (UTC); the range's own beginning under `all`. */
  readonly startsAt: number
  /**
   * The gate, target, key, class of status (`2xx`) or credential; null where nothing is grouped, or
   * no upstream was asked.
   */
  readonly group: string | null
  /** It stands for all groups beyond the fifty with the most calls. */
  readonly isRest: boolean
  readonly calls: number
  readonly failed: number
  /** Of `failed`: with a 4xx, before any upstream was asked. */
  readonly refused: number
  readonly cancelled: number
  readonly unreported: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  readonly cacheWriteTokens: number
  readonly costMicroUsd: number
  readonly costEstimated: number
  readonly costUnknown: number
  readonly duration: LatencyPercentiles
  readonly firstByte: LatencyPercentiles
}

interface PlacedRow {
  readonly row: SummedRow
  readonly startsAt: number
  readonly group: string | null
  readonly isRest: boolean
}

/** An answer stays readable, and bounded, however many keys an account has. */
const MAX_GROUPS = 50
/** Less than a millisecond of the event loop. */
const ROWS_PER_TURN = 500

export class UsageStore {
  readonly #database: Kysely<Schema>
  readonly #backlog: UsageBacklog
  readonly #relieve: (rows: number) => Promise<void>

  /** @param relieve awaited after so many rows were written at once */
  constructor(
    database: Kysely<Schema>,
    backlog: UsageBacklog,
    relieve: (rows: number) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#database = database
    this.#relieve = relieve
    this.#backlog = backlog
  }

  /**
   * In the order of time, then of the groups' names, the rest last; steps and groups without calls
   * are left out.
   */
  async read(accountId: AccountId, query: UsageQuery): Promise<UsageSum[]> {
    const turns = new LoopTurns()
    const rows = await readUsageRows(this.#database, accountId, query, turns)
    return await sumUp(await placeRows(rows, query, turns), turns)
  }

  /**
   * How often calls took how long, step by step, in the order of time. Steps without calls are left
   * out; `groupBy` is not looked at.
   */
  async readLatencies(
    accountId: AccountId,
    query: Omit<UsageQuery, 'groupBy'>,
  ): Promise<readonly LatencyStep[]> {
    const turns = new LoopTurns()
    const all = { ...query, groupBy: null }
    const rows = await readUsageRows(this.#database, accountId, all, turns)
    return await sumLatencies(rows, query, turns)
  }

  /**
   * How many calls were refused, and why; those that were turned away before they were admitted are
   * in none of the other sums.
   */
  async readRefused(accountId: AccountId, query: RefusedQuery): Promise<readonly RefusedSum[]> {
    return await readRefused(this.#database, accountId, query)
  }

  /**
   * Sums up the hours of every day that ended before this time and is not summed up yet.
   * @returns how many days
   */
  async rollUpDays(nowMs: number, options?: RollUpOptions): Promise<number> {
    await this.#backlog.settleAll()
    return await rollUpDays(this.#database, nowMs, { relieve: this.#relieve, ...options })
  }
}

interface PlacedRows {
  /** By where their step begins. */
  readonly steps: ReadonlyMap<number, readonly PlacedRow[]>
  /** The values that the sums are grouped by. */
  readonly groups: ReadonlySet<string | null>
}

/** Calls go on in between: there may be some ten thousand rows. */
async function placeRows(
  rows: readonly SummedRow[],
  query: UsageQuery,
  turns: LoopTurns,
): Promise<PlacedRows> {
  const steps = new Map<number, PlacedRow[]>()
  const calls = new Map<string | null, number>()
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_TURN === 0) await turns.next()
    const group = toGroup(row.group, query.groupBy)
    const startsAt = toStart(row.starts_at, query)
    calls.set(group, (calls.get(group) ?? 0) + Number(row.calls))
    const ofStep = steps.get(startsAt)
    const placed = { row, startsAt, group, isRest: false }
    if (ofStep === undefined) steps.set(startsAt, [placed])
    else ofStep.push(placed)
  }
  return { steps, groups: findGroups(calls) }
}

function findGroups(calls: ReadonlyMap<string | null, number>): ReadonlySet<string | null> {
  if (calls.size <= MAX_GROUPS) return new Set(calls.keys())
  const byCalls = [...calls].sort((left, right) => right[1] - left[1] || compare(left[0], right[0]))
  return new Set(byCalls.slice(0, MAX_GROUPS).map(([group]) => group))
}

async function sumUp({ steps, groups }: PlacedRows, reading: LoopTurns): Promise<UsageSum[]> {
  const sums: UsageSum[] = []
  const turns = new SummingTurns(reading)
  // Rows that belong together lie together, so that one pair of histograms at a time is enough.
  const current = new UsageAccumulator()
  // Step by step: to sort all rows at once would hold the event loop.
  for (const [, ofStep] of [...steps].sort(([left], [right]) => left - right)) {
    const placedRows = ofStep.map((placed) =>
      groups.has(placed.group) ? placed : { ...placed, group: null, isRest: true },
    )
    for (const placed of placedRows.sort(compareGroups)) {
      if (!current.takes(placed)) {
        sums.push(...current.finish())
        current.begin(placed)
      }
      current.add(placed.row)
      await turns.after(placed.row)
    }
  }
  return [...sums, ...current.finish()]
}

function compareGroups(left: PlacedRow, right: PlacedRow): number {
  return Number(left.isRest) - Number(right.isRest) || compare(left.group, right.group)
}

class UsageAccumulator {
  #place: PlacedRow | undefined
  readonly #sums = SUMMED.map(() => 0)
  readonly #durations = new LatencyHistogram()
  readonly #firstBytes = new LatencyHistogram()

  begin(place: PlacedRow): void {
    this.#place = place
    this.#sums.fill(0)
    this.#durations.clear()
    this.#firstBytes.clear()
  }

  takes({ startsAt, group, isRest }: PlacedRow): boolean {
    const place = this.#place
    return startsAt === place?.startsAt && group === place.group && isRest === place.isRest
  }

  add(row: SummedRow): void {
    for (const [index, name] of SUMMED.entries()) {
      this.#sums[index] = (this.#sums[index] ?? 0) + Number(row[name])
    }
    this.#durations.addEncoded(row.durations ?? '')
    this.#firstBytes.addEncoded(row.first_bytes ?? '')
  }

  /** Nothing where nothing was begun. */
  finish(): readonly UsageSum[] {
    const place = this.#place
    if (place === undefined) return []
    const sum = (name: (typeof SUMMED)[number]) => this.#sums[SUMMED.indexOf(name)] ?? 0
    const { startsAt, group, isRest } = place
    const sums = {
      startsAt,
      group,
      isRest,
      calls: sum('calls'),
      failed: sum('failed'),
      refused: sum('refused'),
      cancelled: sum('cancelled'),
      unreported: sum('unreported'),
      inputTokens: sum('input_tokens'),
      outputTokens: sum('output_tokens'),
      cachedInputTokens: sum('cached_input_tokens'),
      reasoningTokens: sum('reasoning_tokens'),
      cacheWriteTokens: sum('cache_write_tokens'),
      costMicroUsd: sum('cost_micro_usd'),
      costEstimated: sum('cost_estimated'),
      costUnknown: sum('cost_unknown'),
      duration: toPercentiles(this.#durations),
      firstByte: toPercentiles(this.#firstBytes),
    }
    return [sums]
  }
}

function toPercentiles(histogram: LatencyHistogram): LatencyPercentiles {
  return {
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
  }
}

function toGroup(value: string | number | null, groupBy: UsageGroup | null): string | null {
  if (value === null || value === '') return null
  return groupBy === 'status' ? `${value}xx` : String(value)
}

function compare(left: string | null, right: string | null): number {
  if (left === right) return 0
  return (left ?? '') < (right ?? '') ? -1 : 1
}

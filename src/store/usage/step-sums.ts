import type { LoopTurns } from '../../core/loop-turns.ts'
import { toGroups } from './group-pairs.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { SummingTurns } from './usage-latencies.ts'
import { type PageGroups, SUMMED, type SummedRow, toStart, type UsageQuery } from './usage-query.ts'

export interface LatencyPercentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface UsageSum {
  readonly startsAt: number
  /**
   * What the query groups by, status as a class (`2xx`), two dimensions as a pair (group-pairs.ts);
   * null without grouping, or for calls without: no upstream was asked, or no user, session, agent or tag is known.
   */
  readonly group: string | null
  /** Whether the sum covers all groups that rank after the groups of this page. */
  readonly isRest: boolean
  readonly calls: number
  readonly failed: number
  /** Part of `failed`: calls with a 4xx before any upstream was asked. */
  readonly refused: number
  readonly cancelled: number
  readonly unreported: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  readonly cacheWriteTokens: number
  readonly costNanoUsd: number
  readonly costEstimated: number
  /** Excludes failed calls without usage. */
  readonly costUnknown: number
  /** Part of `costUnknown`: calls with known usage and no price. */
  readonly unpriced: number
  readonly duration: LatencyPercentiles
  readonly firstByte: LatencyPercentiles
}

interface PlacedRow {
  readonly row: SummedRow
  readonly group: string | null
  readonly isRest: boolean
}

const ROWS_PER_TURN = 500

export class StepSums {
  readonly #query: Pick<UsageQuery, 'interval' | 'fromMs' | 'groupBy' | 'thenBy'>
  readonly #groups: PageGroups | number
  readonly #turns: LoopTurns
  readonly #summing: SummingTurns
  readonly #seen = new Set<string | null>()
  /**
   * A finished step's rows are released at once, because long-lived histogram texts make the
   * garbage collector scan the whole heap.
   */
  readonly #open = new Map<number, PlacedRow[]>()
  readonly #sums: UsageSum[] = []
  readonly #current = new UsageAccumulator()

  /** @param groups the groups of the page, or the maximum number of groups when all are shown */
  constructor(
    query: Pick<UsageQuery, 'interval' | 'fromMs' | 'groupBy' | 'thenBy'>,
    turns: LoopTurns,
    groups: PageGroups | number,
  ) {
    this.#query = query
    this.#turns = turns
    this.#summing = new SummingTurns(turns)
    this.#groups = groups
  }

  get hasTooMany(): boolean {
    return typeof this.#groups === 'number' && this.#seen.size > this.#groups
  }

  async add(rows: readonly SummedRow[], reachedMs: number): Promise<void> {
    for (let index = 0; index < rows.length; index += ROWS_PER_TURN) {
      if (index > 0) await this.#turns.next()
      for (const row of rows.slice(index, index + ROWS_PER_TURN)) this.#place(row)
    }
    if (this.hasTooMany) return
    const reached = toStart(reachedMs, this.#query)
    const over = [...this.#open].filter(([startsAt]) => startsAt < reached)
    await this.#close(over)
  }

  async finish(): Promise<UsageSum[]> {
    await this.#close([...this.#open])
    return this.#sums
  }

  #place(row: SummedRow): void {
    for (const group of toGroups(row, this.#query)) this.#placeAt(group, row)
  }

  #placeAt(group: string | null, row: SummedRow): void {
    const groups = this.#groups
    if (typeof groups === 'number') this.#seen.add(group)
    else if (groups.before.has(group)) return
    const isRest = typeof groups !== 'number' && !groups.shown.has(group)
    const startsAt = toStart(row.starts_at, this.#query)
    const placed = { row, group: isRest ? null : group, isRest }
    const ofStep = this.#open.get(startsAt)
    if (ofStep === undefined) this.#open.set(startsAt, [placed])
    else ofStep.push(placed)
  }

  async #close(steps: [startsAt: number, rows: PlacedRow[]][]): Promise<void> {
    for (const [startsAt, rows] of steps.sort(([left], [right]) => left - right)) {
      this.#open.delete(startsAt)
      // Rows of a group are adjacent, so one pair of histograms is enough.
      for (const placed of rows.sort(compareGroups)) {
        if (!this.#current.takes(placed)) {
          this.#finishGroup()
          this.#current.begin(startsAt, placed)
        }
        this.#current.add(placed.row)
        await this.#summing.after(placed.row)
      }
      this.#finishGroup()
    }
  }

  #finishGroup(): void {
    const sum = this.#current.finish()
    if (sum !== undefined) this.#sums.push(sum)
  }
}

function compareGroups(left: PlacedRow, right: PlacedRow): number {
  return Number(left.isRest) - Number(right.isRest) || compareNames(left.group, right.group)
}

class UsageAccumulator {
  #place: Pick<UsageSum, 'startsAt' | 'group' | 'isRest'> | undefined
  readonly #sums = SUMMED.map(() => 0)
  readonly #durations = new LatencyHistogram()
  readonly #firstBytes = new LatencyHistogram()

  begin(startsAt: number, { group, isRest }: PlacedRow): void {
    this.#place = { startsAt, group, isRest }
    this.#sums.fill(0)
    this.#durations.clear()
    this.#firstBytes.clear()
  }

  takes({ group, isRest }: PlacedRow): boolean {
    return group === this.#place?.group && isRest === this.#place.isRest
  }

  add(row: SummedRow): void {
    for (let index = 0; index < SUMMED.length; index += 1) {
      const name = SUMMED[index]
      if (name !== undefined) this.#sums[index] = (this.#sums[index] ?? 0) + Number(row[name])
    }
    this.#durations.addEncoded(row.durations ?? '')
    this.#firstBytes.addEncoded(row.first_bytes ?? '')
  }

  finish(): UsageSum | undefined {
    const place = this.#place
    if (place === undefined) return undefined
    this.#place = undefined
    const counts = Object.fromEntries(
      SUMMED.map((name, index) => [name, this.#sums[index] ?? 0]),
    ) as Record<(typeof SUMMED)[number], number>
    return {
      ...toSum(place, counts),
      duration: toPercentiles(this.#durations),
      firstByte: toPercentiles(this.#firstBytes),
    }
  }
}

const NO_PERCENTILES: LatencyPercentiles = { p50: null, p95: null, p99: null }

export function toSum(
  place: Pick<UsageSum, 'startsAt' | 'group' | 'isRest'>,
  counts: Readonly<Record<(typeof SUMMED)[number], number>>,
): UsageSum {
  return {
    ...place,
    calls: counts.calls,
    failed: counts.failed,
    refused: counts.refused,
    cancelled: counts.cancelled,
    unreported: counts.unreported,
    inputTokens: counts.input_tokens,
    outputTokens: counts.output_tokens,
    cachedInputTokens: counts.cached_input_tokens,
    reasoningTokens: counts.reasoning_tokens,
    cacheWriteTokens: counts.cache_write_tokens,
    costNanoUsd: counts.cost_nano_usd,
    costEstimated: counts.cost_estimated,
    costUnknown: counts.cost_unknown,
    unpriced: counts.unpriced,
    duration: NO_PERCENTILES,
    firstByte: NO_PERCENTILES,
  }
}

function toPercentiles(histogram: LatencyHistogram): LatencyPercentiles {
  return {
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
  }
}

export function compareNames(left: string | null, right: string | null): number {
  if (left === right) return 0
  return (left ?? '') < (right ?? '') ? -1 : 1
}

/** A sum of usage, and how rows with histograms add up to one. */
import { LatencyHistogram } from './latency-histogram.ts'
import { SUMMED, type SummedRow } from './usage-query.ts'

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

export type PlaceOfSum = Pick<UsageSum, 'startsAt' | 'group' | 'isRest'>

const NO_PERCENTILES: LatencyPercentiles = { p50: null, p95: null, p99: null }

export function toSum(
  place: PlaceOfSum,
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

export class UsageAccumulator {
  #place: PlaceOfSum | undefined
  readonly #sums = SUMMED.map(() => 0)
  readonly #durations = new LatencyHistogram()
  readonly #firstBytes = new LatencyHistogram()

  begin({ startsAt, group, isRest }: PlaceOfSum): void {
    this.#place = { startsAt, group, isRest }
    this.#sums.fill(0)
    this.#durations.clear()
    this.#firstBytes.clear()
  }

  takes({ group, isRest }: Pick<PlaceOfSum, 'group' | 'isRest'>): boolean {
    return group === this.#place?.group && isRest === this.#place.isRest
  }

  addCounts(row: SummedRow): void {
    for (let index = 0; index < SUMMED.length; index += 1) {
      const name = SUMMED[index]
      if (name !== undefined) this.#sums[index] = (this.#sums[index] ?? 0) + Number(row[name])
    }
  }

  addTimes(row: Pick<SummedRow, 'durations' | 'first_bytes'>): void {
    this.#durations.addEncoded(row.durations ?? '')
    this.#firstBytes.addEncoded(row.first_bytes ?? '')
  }

  addAll(other: UsageAccumulator): void {
    for (let index = 0; index < SUMMED.length; index += 1)
      this.#sums[index] = (this.#sums[index] ?? 0) + (other.#sums[index] ?? 0)
    this.#durations.addAll(other.#durations)
    this.#firstBytes.addAll(other.#firstBytes)
  }

  /** The sum stays readable by `addAll` until the next `begin`. */
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

function toPercentiles(histogram: LatencyHistogram): LatencyPercentiles {
  return {
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
  }
}

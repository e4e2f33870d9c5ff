import type { LoopTurns } from '../../core/loop-turns.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { type ReadRows, type SummedRow, toStart, type UsageQuery } from './usage-query.ts'

/**
 * The ends of the ranges in which times are counted, in milliseconds. The last range has no end.
 */
export const LATENCY_EDGES_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 7_000, 10_000, 15_000, 20_000, 30_000, 50_000, 70_000, 100_000, 150_000, 200_000, 300_000,
] as const

export interface LatencyStep {
  readonly startsAt: number
  readonly calls: number
  readonly duration: readonly number[]
  readonly firstByte: readonly number[]
}

/** The cost of summing a row without histograms, expressed in characters of a histogram. */
const ROW_IN_CHARACTERS = 500
const CHARACTERS_PER_TURN = 50_000

/** Yields while histograms are summed, by the amount of text. */
export class SummingTurns {
  readonly #turns: LoopTurns
  #characters = 0

  constructor(turns: LoopTurns) {
    this.#turns = turns
  }

  async after({
    durations,
    first_bytes,
  }: Pick<SummedRow, 'durations' | 'first_bytes'>): Promise<void> {
    this.#characters += ROW_IN_CHARACTERS + (durations?.length ?? 0) + (first_bytes?.length ?? 0)
    if (this.#characters < CHARACTERS_PER_TURN) return
    this.#characters = 0
    await this.#turns.next()
  }
}

export async function sumLatencies(
  read: AsyncIterable<ReadRows<SummedRow>>,
  query: Pick<UsageQuery, 'interval' | 'fromMs'>,
  reading: LoopTurns,
): Promise<readonly LatencyStep[]> {
  const turns = new SummingTurns(reading)
  const steps = new Map<
    number,
    { calls: number; duration: LatencyHistogram; firstByte: LatencyHistogram }
  >()
  for await (const { rows } of read)
    for (const row of rows) {
      const startsAt = toStart(row.starts_at, query)
      const step = steps.get(startsAt) ?? {
        calls: 0,
        duration: new LatencyHistogram(),
        firstByte: new LatencyHistogram(),
      }
      steps.set(startsAt, step)
      step.calls += Number(row.calls)
      step.duration.addEncoded(row.durations ?? '')
      step.firstByte.addEncoded(row.first_bytes ?? '')
      await turns.after(row)
    }
  return [...steps]
    .sort(([left], [right]) => left - right)
    .map(([startsAt, { calls, duration, firstByte }]) => ({
      startsAt,
      calls,
      duration: duration.countBelow(LATENCY_EDGES_MS),
      firstByte: firstByte.countBelow(LATENCY_EDGES_MS),
    }))
}

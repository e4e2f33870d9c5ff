/**
 * The figures of a heat map: counts by step and by range of values. Knows neither how it is
 * drawn nor what is counted.
 */

export interface HeatRange {
  readonly from: number
  /** Null: no end. */
  readonly to: number | null
  /** Its beginning among all ranges. */
  readonly index: number
}

export interface HeatStep {
  readonly startMs: number
  /** One for each of all ranges. */
  readonly counts: readonly number[]
}

export interface HeatData {
  /** Rising; from the lowest that anything is in to the highest. */
  readonly ranges: readonly HeatRange[]
  readonly steps: readonly HeatStep[]
  readonly highest: number
  readonly total: number
}

/** @param starts of all steps, those without counts too */
export function toHeatData(
  starts: readonly number[],
  ranges: readonly { readonly from: number; readonly to: number | null }[],
  counted: ReadonlyMap<number, readonly number[]>,
): HeatData {
  const steps = starts.map((startMs) => ({ startMs, counts: counted.get(startMs) ?? [] }))
  const isUsed = ranges.map((_, index) => steps.some(({ counts }) => (counts[index] ?? 0) > 0))
  const [lowest, uppermost] = [isUsed.indexOf(true), isUsed.lastIndexOf(true)]
  const all = steps.flatMap(({ counts }) => counts)
  return {
    ranges:
      lowest < 0
        ? []
        : ranges.map((range, index) => ({ ...range, index })).slice(lowest, uppermost + 1),
    steps,
    highest: all.reduce((highest, count) => Math.max(highest, count), 0),
    total: all.reduce((sum, count) => sum + count, 0),
  }
}

/** Of a cell with few calls: still to be told from an empty one. */
const FAINTEST = 0.2

/**
 * How strongly a cell is coloured, 0 to 1. By the root: a few calls that are slow have to be seen
 * beside many that are not.
 */
export function heatOf(count: number, highest: number): number {
  return count === 0 || highest === 0 ? 0 : FAINTEST + (1 - FAINTEST) * Math.sqrt(count / highest)
}

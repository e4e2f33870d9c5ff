/** Sums by group as a stacked chart: the largest groups, and one series for all others. */
import type { Measure, UsageFigures } from '../../format/usage-measures.ts'
import type { ChartRow, ChartSeries, TimeChartData } from './chart-series.ts'
import { type FilledPeriod, fillSteps, type StepSum } from './fill-steps.ts'
import { MAX_SERIES, type Paint, REST_PAINT } from './palette.ts'

interface GroupSum extends UsageFigures {
  readonly group: string | null
  readonly isRest: boolean
}

const REST = 'rest'

const keyOf = (index: number) => `group-${index}`

export function groupOfSeries(
  key: string | undefined,
  largest: readonly (string | null)[],
): string | null | undefined {
  return largest.find((_, index) => keyOf(index) === key)
}

/** The groups that get a colour of their own: the largest by the measure. */
export function listLargest(
  totals: readonly GroupSum[],
  measure: Measure,
): readonly (string | null)[] {
  return totals
    .filter((sum) => !sum.isRest && (measure.read(sum) ?? 0) > 0)
    .toSorted((left, right) => (measure.read(right) ?? 0) - (measure.read(left) ?? 0))
    .slice(0, MAX_SERIES)
    .map(({ group }) => group)
}

/** @param given `sums` are those of the steps, `largest` the groups with a series of their own */
export function toStackedData(
  place: Omit<FilledPeriod, 'sums'> & { readonly runningFromMs: number | undefined },
  given: {
    readonly sums: readonly (GroupSum & StepSum)[]
    readonly largest: readonly (string | null)[]
    readonly measure: Measure
    readonly name: (sum: { readonly group: string | null; readonly isRest: boolean }) => string
    readonly paint: (group: string | null) => Paint
  },
): TimeChartData {
  const { sums, largest, measure, name, paint } = given
  const shown = new Set(largest)
  const isOfRest = (sum: GroupSum) => sum.isRest || !shown.has(sum.group)
  const columns = largest.map((group, index) => ({
    series: stack(keyOf(index), name({ group, isRest: false }), paint(group)),
    values: fillSteps(
      { ...place, sums: sums.filter((sum) => !sum.isRest && sum.group === group) },
      measure,
    ),
  }))
  const rest = new Map<string, number>()
  for (const sum of sums.filter(isOfRest))
    rest.set(sum.start, (rest.get(sum.start) ?? 0) + (measure.read(sum) ?? 0))
  const hasRest = [...rest.values()].some((value) => value > 0)
  const steps = fillSteps({ ...place, sums: [] }, measure)
  const rows = steps.map(({ startMs }, index): ChartRow => {
    const values = columns.map(
      ({ series, values }) => [series.key, values[index]?.value ?? 0] as const,
    )
    const restHere = [...rest].find(
      ([start]) => Math.max(Date.parse(start), place.period.fromMs) === startMs,
    )
    return {
      startMs,
      values: Object.fromEntries(hasRest ? [...values, [REST, restHere?.[1] ?? 0]] : values),
    }
  })
  const series = columns.map((column) => column.series)
  return {
    rows,
    series: hasRest ? [...series, stack(REST, 'All others', REST_PAINT)] : series,
    step: place.step,
    runningFromMs: place.runningFromMs,
    unit: measure.unit,
    format: measure.format,
  }
}

function stack(key: string, label: string, paint: Paint): ChartSeries {
  return { key, label, ...paint, look: 'stack' }
}

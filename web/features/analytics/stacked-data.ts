/** Sums by group and step, as a stacked chart: the largest groups, and the rest as one. */
import type { Measure } from '../../format/usage-measures.ts'
import type { ChartRow, ChartSeries, TimeChartData } from '../../ui/charts/chart-series.ts'
import { type FilledPeriod, fillSteps } from '../../ui/charts/fill-steps.ts'
import { MAX_SERIES, type Paint, REST_PAINT } from '../../ui/charts/palette.ts'
import type { Sum } from './columns.ts'
import type { NameGroup } from './group-names.ts'

const REST = 'rest'

const keyOf = (index: number) => `group-${index}`

/** Undefined: it stands for more than one group. */
export function groupOfSeries(
  key: string | undefined,
  largest: readonly (string | null)[],
): string | null | undefined {
  return largest.find((_, index) => keyOf(index) === key)
}

/** The groups that are shown, in their order. @param totals one sum a group, of the whole range */
export function listLargest(totals: readonly Sum[], measure: Measure): readonly (string | null)[] {
  return totals
    .filter((sum) => !sum.isRest && (measure.read(sum) ?? 0) > 0)
    .toSorted((left, right) => (measure.read(right) ?? 0) - (measure.read(left) ?? 0))
    .slice(0, MAX_SERIES)
    .map(({ group }) => group)
}

export function toStackedData(
  place: Omit<FilledPeriod, 'sums'> & { readonly runningFromMs: number | undefined },
  given: {
    readonly sums: readonly Sum[]
    /** The groups that are shown, in their order. */
    readonly largest: readonly (string | null)[]
    readonly measure: Measure
    readonly name: NameGroup
    readonly paint: (group: string | null) => Paint
  },
): TimeChartData {
  const { sums, largest, measure, name, paint } = given
  const shown = new Set(largest)
  const isOfRest = (sum: Sum) => sum.isRest || !shown.has(sum.group)
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

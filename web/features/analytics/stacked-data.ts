/** Sums by group and step, as a stacked chart: the largest groups, and the rest as one. */
import type { Measure } from '../../format/usage-measures.ts'
import type { ChartRow, ChartSeries, TimeChartData } from '../../ui/charts/chart-series.ts'
import { type FilledPeriod, fillSteps } from '../../ui/charts/fill-steps.ts'
import { FAINT, MAX_SERIES, seriesColor } from '../../ui/charts/palette.ts'
import type { Sum } from './columns.ts'
import type { NameGroup } from './group-names.ts'

const REST = 'rest'

/** @param totals one sum a group, of the whole range: they decide who is shown, and in which order */
export function toStackedData(
  place: Omit<FilledPeriod, 'sums'>,
  given: {
    readonly sums: readonly Sum[]
    readonly totals: readonly Sum[]
    readonly measure: Measure
    readonly name: NameGroup
  },
): TimeChartData {
  const { sums, totals, measure, name } = given
  const largest = totals
    .filter((sum) => !sum.isRest && (measure.read(sum) ?? 0) > 0)
    .toSorted((left, right) => (measure.read(right) ?? 0) - (measure.read(left) ?? 0))
    .slice(0, MAX_SERIES)
  const shown = new Set(largest.map(({ group }) => group))
  const isOfRest = (sum: Sum) => sum.isRest || !shown.has(sum.group)
  const columns = largest.map(({ group }, index) => ({
    series: stack(`group-${index}`, name({ group, isRest: false }), seriesColor(index)),
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
    series: hasRest ? [...series, stack(REST, 'All others', FAINT)] : series,
    step: place.step,
    unit: measure.unit,
    format: measure.format,
  }
}

function stack(key: string, label: string, color: string): ChartSeries {
  return { key, label, color, look: 'stack' }
}

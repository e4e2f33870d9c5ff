/** What a chart over time is given. Knows neither how it is drawn nor what is measured. */
import type { StepLength } from '../../format/time-range.ts'

export interface ChartSeries {
  /** Where its values are in the rows. */
  readonly key: string
  readonly label: string
  readonly color: string
  /** `before`: a faint, broken line without a filling. */
  readonly look: 'line' | 'area' | 'stack' | 'before'
  /** A sum of each step, which holds for all of it; else a value that lies between those beside it. */
  readonly isSum?: boolean
}

export interface ChartRow {
  /** Where the step begins, in milliseconds since the Unix epoch. */
  readonly startMs: number
  /** By the keys of series; null: nothing to measure in this step. */
  readonly values: Readonly<Record<string, number | null>>
}

export interface TimeChartData {
  readonly rows: readonly ChartRow[]
  readonly series: readonly ChartSeries[]
  readonly step: StepLength
  /** What the axis counts: `calls`, `US dollars`. */
  readonly unit: string
  readonly format: (value: number | null | undefined) => string
}

/** What a reader who does not see the chart is told of it: of each series its highest value and when that was. */
export function describeChart(
  { rows, series, format }: TimeChartData,
  formatMoment: (startMs: number) => string,
): string {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return 'No data.'
  const parts = series.map(({ key, label }) => {
    let highest: { readonly startMs: number; readonly value: number } | undefined
    for (const { startMs, values } of rows) {
      const value = values[key]
      if (typeof value === 'number' && (highest === undefined || value > highest.value))
        highest = { startMs, value }
    }
    if (highest === undefined || highest.value === 0) return `${label}: none.`
    return `${label}: at most ${format(highest.value)}, ${formatMoment(highest.startMs)}.`
  })
  return `From ${formatMoment(first.startMs)} to ${formatMoment(last.startMs)}. ${parts.join(' ')}`
}

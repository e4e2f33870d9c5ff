import type { StepLength } from '../../format/time-range.ts'
import type { PatternName } from './palette.ts'

/** The dash pattern of incomplete steps in every chart. */
export const RUNNING_DASHES = '2 3'

export const BEFORE_KEY = 'before'

export interface ChartSeries {
  readonly key: string
  readonly label: string
  readonly color: string
  readonly pattern?: PatternName
  readonly dashes?: string | undefined
  /** `before`: a faint dashed line without a fill. */
  readonly look: 'line' | 'area' | 'stack' | 'before'
  /** Whether the value is a sum over the whole step; other values lie between their neighbours. */
  readonly isSum?: boolean
}

export interface ChartRow {
  readonly startMs: number
  readonly values: Readonly<Record<string, number | null>>
}

export interface TimeChartData {
  readonly rows: readonly ChartRow[]
  readonly series: readonly ChartSeries[]
  readonly step: StepLength
  /**
   * The beginning of the current step, the last step, which is dashed. Undefined when all steps are
   * complete.
   */
  readonly runningFromMs: number | undefined
  /** The unit of the axis: `calls`, `US dollars`. */
  readonly unit: string
  readonly format: (value: number | null | undefined) => string
}

/** Whether the step has calls. The previous period's values are ignored. */
export function hasCalls(values: ChartRow['values']): boolean {
  return Object.entries(values).some(
    ([key, value]) => key !== BEFORE_KEY && value !== null && value !== 0,
  )
}

export function describeChart(
  { rows, series, format, runningFromMs }: TimeChartData,
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
  const running = runningFromMs === undefined ? '' : ' The last step is not over yet.'
  return (
    `From ${formatMoment(first.startMs)} to ${formatMoment(last.startMs)}. ` +
    `${parts.join(' ')}${running}`
  )
}

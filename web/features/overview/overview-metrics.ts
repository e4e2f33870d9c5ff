import {
  CALLS,
  COST,
  ERROR_RATE,
  ERRORS,
  FIRST_TOKEN_P50,
  FIRST_TOKEN_P95,
  LATENCY_P50,
  LATENCY_P95,
  type Measure,
  TOKENS,
  type UsageFigures,
} from '../../format/usage-measures.ts'
import {
  BEFORE_KEY,
  type ChartRow,
  type ChartSeries,
  type TimeChartData,
} from '../../ui/charts/chart-series.ts'
import { type FilledPeriod, fillSteps } from '../../ui/charts/fill-steps.ts'
import { FAINT, lineColor, lineDashes } from '../../ui/charts/palette.ts'

export interface OverviewMetric {
  readonly id: string
  readonly label: string
  readonly main: Measure
  readonly besides: readonly (readonly [name: string, measure: Measure])[]
  /** The drawn measures. The previous period is drawn for the first measure. */
  readonly drawn: readonly Measure[]
}

export const OVERVIEW_METRICS: readonly OverviewMetric[] = [
  { id: 'cost', label: 'Spend', main: COST, besides: [], drawn: [COST] },
  { id: 'tokens', label: 'Tokens', main: TOKENS, besides: [], drawn: [TOKENS] },
  { id: 'calls', label: 'Calls', main: CALLS, besides: [], drawn: [CALLS] },
  {
    id: 'errors',
    label: 'Errors',
    main: ERROR_RATE,
    besides: [['calls', ERRORS]],
    drawn: [ERRORS],
  },
  {
    id: 'latency',
    label: 'Latency p50',
    main: LATENCY_P50,
    besides: [['p95', LATENCY_P95]],
    drawn: [LATENCY_P50, LATENCY_P95],
  },
  {
    id: 'first-token',
    label: 'First token p50',
    main: FIRST_TOKEN_P50,
    besides: [['p95', FIRST_TOKEN_P95]],
    drawn: [FIRST_TOKEN_P50, FIRST_TOKEN_P95],
  },
]

/** The figures without those of a part. Percentiles stay, because they cannot be subtracted. */
export function subtract(sum: UsageFigures, part: UsageFigures): UsageFigures {
  return {
    ...sum,
    calls: sum.calls - part.calls,
    errors: sum.errors - part.errors,
    refused: (sum.refused ?? 0) - (part.refused ?? 0),
    tokens: {
      input: sum.tokens.input - part.tokens.input,
      output: sum.tokens.output - part.tokens.output,
    },
    cost: { ...sum.cost, usd: sum.cost.usd - part.cost.usd },
  }
}

export interface DrawnPeriods {
  readonly current: FilledPeriod
  readonly before: FilledPeriod | undefined
  readonly runningFromMs: number | undefined
}

export function toChartData(
  { drawn }: OverviewMetric,
  { current, before, runningFromMs }: DrawnPeriods,
): TimeChartData {
  const [first] = drawn
  const columns = drawn.map((measure) => fillSteps(current, measure))
  const earlier = first === undefined || before === undefined ? [] : fillSteps(before, first)
  const hasEarlier = earlier.some(({ value }) => value !== null && value !== 0)
  const rows = (columns[0] ?? []).map(({ startMs }, index): ChartRow => {
    const values = Object.fromEntries(
      drawn.map((measure, column) => [measure.label, columns[column]?.[index]?.value ?? null]),
    )
    return {
      startMs,
      values: hasEarlier ? { ...values, [BEFORE_KEY]: earlier[index]?.value ?? null } : values,
    }
  })
  const series = drawn.map(
    (measure, index): ChartSeries => ({
      key: measure.label,
      label: measure.label,
      color: lineColor(index),
      dashes: lineDashes(index),
      look: drawn.length === 1 ? 'area' : 'line',
      isSum: measure.isSummable,
    }),
  )
  const earlierSeries: ChartSeries = {
    key: BEFORE_KEY,
    label: drawn.length === 1 ? 'Period before' : `${first?.label}, period before`,
    color: FAINT,
    dashes: '4 4',
    look: 'before',
    isSum: first?.isSummable === true,
  }
  return {
    rows,
    series: hasEarlier ? [earlierSeries, ...series] : series,
    step: current.step,
    runningFromMs,
    unit: first?.unit ?? '',
    format: first?.format ?? String,
  }
}

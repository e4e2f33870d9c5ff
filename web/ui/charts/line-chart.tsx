/** Series over time as lines, filled or faint. */
import { Area, Line } from 'recharts'
import type { ChartSeries, TimeChartData } from './chart-series.ts'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

export function LineChart(props: TimeChartProps) {
  return <TimeChart {...props} draw={drawLine} />
}

/** Nothing moves: a chart that is renewed every few seconds would never come to rest. */
function drawLine(
  { key, label, color, look, isSum = false }: ChartSeries,
  gradientId: string,
  rows: TimeChartData['rows'],
) {
  const shared = {
    key,
    name: label,
    dataKey: (row: TimeChartData['rows'][number]) => row.values[key] ?? null,
    isAnimationActive: false,
  } as const
  const { key: reactKey, ...props } = shared
  const lonely = (dot: { readonly cx?: number; readonly cy?: number; readonly index?: number }) => (
    <LonelyDot
      key={`${key}-${dot.index}`}
      {...dot}
      isLonely={isLonely(rows, key, dot.index ?? 0)}
      color={color}
    />
  )
  const line = {
    ...props, // Between two steps nothing is known: a curve would draw what was not measured.
    type: isSum ? ('step' as const) : ('linear' as const),
    stroke: color,
    dot: lonely,
  }
  if (look === 'area')
    return (
      <Area
        key={reactKey}
        {...line}
        strokeWidth={1.75}
        fill={`url(#${gradientId})`}
        activeDot={{ r: 3.5 }}
      />
    )
  return (
    <Line
      key={reactKey}
      {...line}
      {...(look === 'before'
        ? { strokeWidth: 1.25, strokeDasharray: '3 3', strokeOpacity: 0.75, activeDot: false }
        : { strokeWidth: 1.75, activeDot: { r: 3.5 } })}
    />
  )
}

/** A value between two gaps is no line: without its dot it could not be seen. */
function isLonely(rows: TimeChartData['rows'], key: string, index: number): boolean {
  const hasValue = (at: number) => typeof rows[at]?.values[key] === 'number'
  return hasValue(index) && !hasValue(index - 1) && !hasValue(index + 1)
}

function LonelyDot({
  cx,
  cy,
  isLonely,
  color,
}: {
  readonly cx?: number
  readonly cy?: number
  readonly isLonely: boolean
  readonly color: string
}) {
  return isLonely && cx !== undefined && cy !== undefined ? (
    <circle cx={cx} cy={cy} r={2.5} fill={color} />
  ) : (
    <g />
  )
}

import { type ReactElement, useId } from 'react'
import { Area, Line, usePlotArea, useXAxisScale } from 'recharts'
import { type ChartSeries, RUNNING_DASHES, type TimeChartData } from './chart-series.ts'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

export function LineChart(props: TimeChartProps) {
  const { rows, runningFromMs, series } = props.data
  const clipId = useId()
  const parts: Parts = runningFromMs === undefined ? { whole: undefined } : toParts(clipId)
  return (
    <TimeChart {...props} draw={(one, fillId) => drawLine(one, fillId, { rows, parts })}>
      {runningFromMs !== undefined && (
        <PartClips
          ids={[`${clipId}-over`, `${clipId}-running`]}
          runningFromMs={runningFromMs}
          previousMs={rows.at(-2)?.startMs}
          isSum={series.every(({ isSum }) => isSum === true)}
        />
      )}
    </TimeChart>
  )
}

type Parts = Readonly<Record<string, string | undefined>>

function toParts(clipId: string): Parts {
  return { over: `url(#${clipId}-over)`, running: `url(#${clipId}-running)` }
}

/** More than any line's width. */
const BEYOND_PX = 8

/**
 * A sum's step begins half-way to the previous point; a measure's line starts at the previous
 * point.
 */
function PartClips({
  ids: [overId, runningId],
  runningFromMs,
  previousMs,
  isSum,
}: {
  readonly ids: readonly [over: string, running: string]
  readonly runningFromMs: number
  readonly previousMs: number | undefined
  readonly isSum: boolean
}) {
  const plot = usePlotArea()
  const scale = useXAxisScale()
  if (plot === undefined || scale === undefined) return null
  const last = scale(runningFromMs) ?? plot.x
  const previous = previousMs === undefined ? plot.x : (scale(previousMs) ?? plot.x)
  const border = isSum && previousMs !== undefined ? (previous + last) / 2 : previous
  const [y, height] = [plot.y - BEYOND_PX, plot.height + 2 * BEYOND_PX]
  const endX = plot.x + plot.width + BEYOND_PX
  return (
    <defs>
      <clipPath id={overId}>
        <rect x={plot.x - BEYOND_PX} y={y} width={border - plot.x + BEYOND_PX} height={height} />
      </clipPath>
      <clipPath id={runningId}>
        <rect x={border} y={y} width={endX - border} height={height} />
      </clipPath>
    </defs>
  )
}

/** Without animation, because a chart that refreshes every few seconds would never rest. */
function drawLine(
  series: ChartSeries,
  fillId: string,
  { rows, parts }: { readonly rows: TimeChartData['rows']; readonly parts: Parts },
): ReactElement {
  // The previous period has no incomplete step.
  if (series.look === 'before')
    return drawPart(series, fillId, { rows, part: 'whole', clip: undefined })
  return (
    <g key={series.key}>
      {Object.entries(parts).map(([part, clip]) => drawPart(series, fillId, { rows, part, clip }))}
    </g>
  )
}

function drawPart(
  { key, label, color, dashes, look, isSum = false }: ChartSeries,
  fillId: string,
  {
    rows,
    part,
    clip,
  }: {
    readonly rows: TimeChartData['rows']
    readonly part: string
    readonly clip: string | undefined
  },
): ReactElement {
  const reactKey = `${key}-${part}`
  const lonely = (dot: { readonly cx?: number; readonly cy?: number; readonly index?: number }) => (
    <LonelyDot
      key={`${reactKey}-${dot.index}`}
      {...dot}
      isLonely={isLonely(rows, key, dot.index ?? 0)}
      color={color}
    />
  )
  const line = {
    name: label,
    dataKey: (row: TimeChartData['rows'][number]) => row.values[key] ?? null,
    isAnimationActive: false,
    // A curve would show values between two steps that were not measured.
    type: isSum ? ('step' as const) : ('linear' as const),
    stroke: color,
    strokeWidth: 1.75,
    strokeDasharray: part === 'running' ? RUNNING_DASHES : dashes,
    dot: lonely,
    activeDot: part !== 'running' && { r: 3.5 },
    ...(clip === undefined ? {} : { style: { clipPath: clip } }),
    ...(part === 'running' ? { className: 'running' } : {}),
  }
  if (look === 'area') return <Area key={reactKey} {...line} fill={`url(#${fillId})`} />
  return (
    <Line
      key={reactKey}
      {...line}
      {...(look === 'before' ? { strokeWidth: 1.25, activeDot: false } : {})}
    />
  )
}

/** A value between two gaps needs a dot to be visible, because a single point is not a line. */
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

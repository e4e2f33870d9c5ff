/**
 * Stacked series as bars over time. Separate from lines, because the first page needs no bars,
 * which are a twentieth of the library.
 */
import type { MouseEvent } from 'react'
import { Bar } from 'recharts'
import { type ChartRow, RUNNING_DASHES } from './chart-series.ts'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

export function StackedChart(props: TimeChartProps) {
  const { open } = props
  const { runningFromMs } = props.data
  return (
    <TimeChart
      {...props}
      draw={({ key, label, color }, fillId, links) => (
        <Bar
          key={key}
          name={label}
          dataKey={(row: ChartRow) => row.values[key] ?? null}
          isAnimationActive={false}
          stackId="all"
          fill={color}
          maxBarSize={48}
          {...(open === undefined
            ? {}
            : {
                cursor: 'pointer',
                onClick: ({ payload }: Place, _index: number, event: MouseEvent) => {
                  if (payload !== undefined) links.click(event, payload.startMs, key)
                },
              })}
          shape={(place: Place) => (
            <Segment
              place={place}
              color={color}
              fill={`url(#${fillId})`}
              isRunning={place.payload?.startMs === runningFromMs}
            />
          )}
        />
      )}
    />
  )
}

interface Place {
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
  readonly payload?: ChartRow
}

/** Inset, so that a dashed edge is not covered by its neighbour. */
const EDGE_PX = 0.5

/** Browsers draw no edge of a rectangle without a width: on a phone, an hour has one pixel. */
const LEAST_WIDTH_PX = 0.1

function Segment({
  place: { x = 0, y = 0, width = 0, height = 0 },
  color,
  fill,
  isRunning,
}: {
  readonly place: Place
  readonly color: string
  readonly fill: string
  readonly isRunning: boolean
}) {
  if (height <= 0 || width <= 0) return <g />
  if (!isRunning) return <rect x={x} y={y} width={width} height={height} fill={fill} />
  return (
    <rect
      className="running"
      x={x + EDGE_PX}
      y={y + EDGE_PX}
      width={Math.max(LEAST_WIDTH_PX, width - 2 * EDGE_PX)}
      height={Math.max(0, height - 2 * EDGE_PX)}
      fill={fill}
      fillOpacity={0.35}
      stroke={color}
      strokeDasharray={RUNNING_DASHES}
    />
  )
}

/** The frame that series over time are drawn in, by Recharts, in the style sheet's colours. Large: import it only from what is fetched later. */
import { type ReactElement, useId } from 'react'
import { CartesianGrid, ComposedChart, Tooltip, XAxis, YAxis } from 'recharts'
import { formatStep, formatStepShort } from '../../format/times.ts'
import type { ChartSeries, TimeChartData } from './chart-series.ts'
import { describeChart } from './chart-series.ts'
import { ChartTooltip } from './chart-tooltip.tsx'

const TICK = { fill: 'var(--ink-faint)', fontSize: 12 }
const MARGIN = { top: 8, right: 8, bottom: 0, left: 0 }

/** Beyond this, hours are told by their day, and each day once. */
const DAYS_TOLD_MS = 172_800_000

/** In the reader's zone. */
function listMidnights(rows: TimeChartData['rows']): number[] {
  return rows.map(({ startMs }) => startMs).filter((startMs) => new Date(startMs).getHours() === 0)
}

/** Between whole values there is nothing to tell: a step of a half would be written as the number above it. */
function isWhole({ rows, series }: TimeChartData): boolean {
  return rows.every(({ values }) => series.every(({ key }) => Number.isInteger(values[key] ?? 0)))
}

export interface TimeChartProps {
  readonly label: string
  readonly data: TimeChartData
  readonly heightPx: number
}

/** Arrow keys move the tooltip along once the chart has the focus. */
export function TimeChart({
  label,
  data,
  heightPx,
  draw,
}: TimeChartProps & {
  /** One series. `gradientId` names a gradient of its colour. */
  readonly draw: (
    series: ChartSeries,
    gradientId: string,
    rows: TimeChartData['rows'],
  ) => ReactElement
}) {
  const gradientId = useId()
  const { rows, series, step, format, unit } = data
  const spanMs = (rows.at(-1)?.startMs ?? 0) - (rows[0]?.startMs ?? 0)
  const moment = (startMs: number) => formatStep(startMs, step)
  const midnights = step === 'hour' && spanMs > DAYS_TOLD_MS ? listMidnights(rows) : []
  const isStacked = series.some(({ look }) => look === 'stack')
  return (
    <div>
      <p className="px-1 pb-1 text-xs text-ink-faint">{unit}</p>
      <ComposedChart
        responsive
        style={{ width: '100%', height: heightPx }}
        data={rows as TimeChartData['rows'][number][]}
        margin={MARGIN}
        accessibilityLayer
        aria-label={`${label}. ${describeChart(data, moment)} Arrow keys move along it.`}
        barCategoryGap="18%"
      >
        <defs>
          {series.map(({ key, color, look }, index) =>
            look === 'area' ? (
              <linearGradient key={key} id={`${gradientId}-${index}`} x1="0" y1="0" x2="0" y2="1">
                <stop offset="0%" stopColor={color} stopOpacity={0.22} />
                <stop offset="100%" stopColor={color} stopOpacity={0} />
              </linearGradient>
            ) : null,
          )}
        </defs>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="startMs"
          tickFormatter={(startMs: number) => formatStepShort(startMs, step, spanMs)}
          tick={TICK}
          tickLine={false}
          axisLine={{ stroke: 'var(--line-strong)' }}
          tickMargin={8}
          minTickGap={40}
          {...(midnights.length > 0
            ? { ticks: midnights, interval: 'preserveStart' }
            : { interval: 'equidistantPreserveStart' })}
        />
        <YAxis
          tickFormatter={(value: number) => format(value)}
          tick={TICK}
          tickLine={false}
          axisLine={false}
          width="auto"
          tickCount={5}
          allowDecimals={!isWhole(data)}
        />
        <Tooltip
          content={<ChartTooltip data={data} />}
          isAnimationActive={false}
          cursor={isStacked ? { fill: 'var(--sunken)' } : { stroke: 'var(--line-strong)' }}
          wrapperStyle={{ outline: 'none', zIndex: 10 }}
        />
        {series.map((one, index) => draw(one, `${gradientId}-${index}`, rows))}
      </ComposedChart>
    </div>
  )
}

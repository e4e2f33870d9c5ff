/**
 * The frame of charts over time, drawn by Recharts in the style sheet's colours. Large: import this
 * file only from code that is loaded later.
 */
import { type ReactElement, type ReactNode, useEffect, useId } from 'react'
import { CartesianGrid, ComposedChart, Tooltip, XAxis, YAxis } from 'recharts'
import { isMidnight, type TimeZone } from '../../format/time-zone.ts'
import { formatStep, formatStepShort } from '../../format/times.ts'
import { classNames } from '../class-names.ts'
import { useTimeZone } from '../use-time-zone.ts'
import { type ChartSeries, describeChart, hasCalls, type TimeChartData } from './chart-series.ts'
import { PaintPattern } from './paint-pattern.tsx'
import { SeriesSample } from './series-sample.tsx'
import { type StepLinks, useStepLinks } from './step-links.ts'

const TICK = { fill: 'var(--ink-faint)', fontSize: 12 }
const MARGIN = { top: 8, right: 8, bottom: 0, left: 0 }

const DAYS_TOLD_MS = 172_800_000

function listMidnights(rows: TimeChartData['rows'], zone: TimeZone): number[] {
  return rows.map(({ startMs }) => startMs).filter((startMs) => isMidnight(startMs, zone))
}

/** Whole values get no ticks in between: a half would be shown as the next whole number. */
function isWhole({ rows, series }: TimeChartData): boolean {
  return rows.every(({ values }) => series.every(({ key }) => Number.isInteger(values[key] ?? 0)))
}

export interface TimeChartProps {
  readonly label: string
  readonly data: TimeChartData
  readonly heightPx: number
  readonly open: ((startMs: number, seriesKey: string | undefined) => void) | undefined
}

export function TimeChart({
  label,
  data,
  heightPx,
  open,
  draw,
  children,
}: TimeChartProps & {
  /** Draws a series. `fillId` identifies its fill: a gradient of its colour, or its pattern. */
  readonly draw: (series: ChartSeries, fillId: string, links: StepLinks) => ReactElement
  readonly children?: ReactNode
}) {
  const fillId = useId()
  const zone = useTimeZone()
  const links = useStepLinks(data.series, open)
  const { rows, series, step, format, unit } = data
  const spanMs = (rows.at(-1)?.startMs ?? 0) - (rows[0]?.startMs ?? 0)
  const moment = (startMs: number) => formatStep(startMs, step, zone)
  const midnights = step === 'hour' && spanMs > DAYS_TOLD_MS ? listMidnights(rows, zone) : []
  const isStacked = series.some(({ look }) => look === 'stack')
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the drawing inside has the focus, and its key events bubble up to here
    <div onKeyDown={links.press} onClick={isStacked ? undefined : links.clickHere}>
      <p className="px-1 pb-1 text-xs text-ink-faint">{unit}</p>
      <ComposedChart
        responsive
        style={{ width: '100%', height: heightPx }}
        data={rows as TimeChartData['rows'][number][]}
        margin={MARGIN}
        accessibilityLayer
        aria-label={`${label}. ${describeChart(data, moment)} Arrow keys move along it.${open === undefined ? '' : ' Enter shows the calls of a step.'}`}
        {...(isStacked || open === undefined ? {} : { cursor: 'pointer' })}
        barCategoryGap="18%"
      >
        <defs>
          {series.map(({ key, color, look, pattern = 'solid' }, index) =>
            look === 'stack' ? (
              <PaintPattern key={key} id={`${fillId}-${index}`} paint={{ color, pattern }} />
            ) : look === 'area' ? (
              <linearGradient key={key} id={`${fillId}-${index}`} x1="0" y1="0" x2="0" y2="1">
                <stop offset="0%" stopColor={color} stopOpacity={0.22} />
                <stop offset="100%" stopColor={color} stopOpacity={0} />
              </linearGradient>
            ) : null,
          )}
        </defs>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="startMs"
          tickFormatter={(startMs: number) => formatStepShort(startMs, step, { zone, spanMs })}
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
          content={<ChartTooltip data={data} links={links} leadsOn={open !== undefined} />}
          isAnimationActive={false}
          cursor={isStacked ? { fill: 'var(--sunken)' } : { stroke: 'var(--line-strong)' }}
          wrapperStyle={{ outline: 'none', zIndex: 10 }}
        />
        {series.map((one, index) => draw(one, `${fillId}-${index}`, links))}
        {children}
      </ComposedChart>
    </div>
  )
}

interface TooltipState {
  readonly active?: boolean
  readonly label?: unknown
}

function ChartTooltip({
  active,
  label,
  data,
  links,
  leadsOn,
}: TooltipState & {
  readonly data: TimeChartData
  readonly links: StepLinks
  readonly leadsOn: boolean
}) {
  const zone = useTimeZone()
  const row = active === true ? data.rows.find(({ startMs }) => startMs === label) : undefined
  const canOpen = leadsOn && row !== undefined && hasCalls(row.values)
  useEffect(() => {
    links.stand(canOpen ? row.startMs : undefined)
  })
  if (row === undefined) return null
  const shown = data.series.filter(
    ({ key, look }) => look !== 'stack' || (row.values[key] ?? 0) !== 0,
  )
  const stacked = shown.filter(({ look }) => look === 'stack')
  const total = stacked.reduce((sum, { key }) => sum + (row.values[key] ?? 0), 0)
  return (
    <div className="min-w-40 rounded-lg border border-line bg-surface px-3 py-2 text-xs shadow-high">
      <p className="pb-1 font-medium text-ink">
        {formatStep(row.startMs, data.step, zone)}
        {row.startMs === data.runningFromMs && ', so far'}
      </p>
      {shown.length === 0 && <p className="text-ink-soft">none</p>}
      {shown.map((series) => (
        <p
          key={series.key}
          className={classNames(
            'flex items-center gap-2 py-0.5 text-ink-soft',
            series.key === links.chosenKey && 'rounded-sm bg-sunken font-semibold !text-ink',
          )}
        >
          <SeriesSample series={series} />
          <span className="max-w-48 truncate">{series.label}</span>
          <span className="ml-auto pl-3 font-medium tabular-nums text-ink">
            {data.format(row.values[series.key])}
          </span>
        </p>
      ))}
      {stacked.length > 1 && (
        <p className="mt-1 flex gap-2 border-t border-line pt-1.5 font-medium text-ink">
          Total<span className="ml-auto pl-3 tabular-nums">{data.format(total)}</span>
        </p>
      )}
      {canOpen && (
        <p className="mt-1 text-ink-faint">
          {links.chosenKey === undefined ? 'Click or Enter' : 'Enter'}: its calls in the logs
        </p>
      )}
    </div>
  )
}

/** A chart's figures of the step under the pointer, or of the one that the arrow keys led to. */

import { useEffect } from 'react'
import { formatStep } from '../../format/times.ts'
import { classNames } from '../class-names.ts'
import { useTimeZone } from '../use-time-zone.ts'
import { hasCalls, type TimeChartData } from './chart-series.ts'
import { SeriesSample } from './series-sample.tsx'
import type { StepLinks } from './step-links.ts'

interface TooltipState {
  readonly active?: boolean
  readonly label?: unknown
}

/** Recharts adds which step it is. */
export function ChartTooltip({
  active,
  label,
  data,
  links,
  leadsOn,
}: TooltipState & {
  readonly data: TimeChartData
  readonly links: StepLinks
  /** True where something stands behind the steps. */
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

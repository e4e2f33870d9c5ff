/** What a chart tells of the step under the pointer, or where the arrow keys led. */

import { formatStep } from '../../format/times.ts'
import type { TimeChartData } from './chart-series.ts'

interface TooltipState {
  readonly active?: boolean
  readonly label?: unknown
}

/** Recharts adds which step it is. */
export function ChartTooltip({
  active,
  label,
  data,
}: TooltipState & { readonly data: TimeChartData }) {
  const row = active === true ? data.rows.find(({ startMs }) => startMs === label) : undefined
  if (row === undefined) return null
  const shown = data.series.filter(
    ({ key, look }) => look !== 'stack' || (row.values[key] ?? 0) !== 0,
  )
  const stacked = shown.filter(({ look }) => look === 'stack')
  const total = stacked.reduce((sum, { key }) => sum + (row.values[key] ?? 0), 0)
  return (
    <div className="min-w-40 rounded-lg border border-line bg-surface px-3 py-2 text-xs shadow-high">
      <p className="pb-1 font-medium text-ink">{formatStep(row.startMs, data.step)}</p>
      {shown.length === 0 && <p className="text-ink-soft">none</p>}
      {shown.map(({ key, label: name, color }) => (
        <p key={key} className="flex items-center gap-2 py-0.5 text-ink-soft">
          <span aria-hidden className="size-2 shrink-0 rounded-xs" style={{ background: color }} />
          <span className="max-w-48 truncate">{name}</span>
          <span className="ml-auto pl-3 font-medium tabular-nums text-ink">
            {data.format(row.values[key])}
          </span>
        </p>
      ))}
      {stacked.length > 1 && (
        <p className="mt-1 flex gap-2 border-t border-line pt-1.5 font-medium text-ink">
          Total<span className="ml-auto pl-3 tabular-nums">{data.format(total)}</span>
        </p>
      )}
    </div>
  )
}

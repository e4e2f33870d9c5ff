/** A chart with its legend, and a switch between the drawing and its figures. */
import { ChartLine, Table2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import type { TimeChartData } from './chart-series.ts'
import { ChartTable } from './chart-table.tsx'

export function ChartPanel({
  label,
  data,
  note,
}: {
  readonly label: string
  readonly data: TimeChartData
  readonly note?: ReactNode
}) {
  const [isTable, setTable] = useState(false)
  return (
    <figure className="m-0" aria-label={label}>
      <div className="flex items-start justify-between gap-3 px-4 pt-3">
        <ul
          aria-label="Legend"
          className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 py-1.5 text-xs text-ink-soft"
        >
          {data.series.map(({ key, label: name, color, look }) => (
            <li key={key} className="flex min-w-0 items-center gap-1.5">
              <span
                aria-hidden
                className={classNames(
                  'shrink-0',
                  look === 'stack' ? 'size-2.5 rounded-xs' : 'h-0 w-3.5 border-t-2',
                )}
                style={
                  look === 'stack'
                    ? { background: color }
                    : { borderColor: color, borderStyle: look === 'before' ? 'dashed' : 'solid' }
                }
              />
              <span className="truncate">{name}</span>
            </li>
          ))}
        </ul>
        <IconButton
          size="small"
          label={isTable ? 'Show the chart' : 'Show the figures as a table'}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? (
            <ChartLine aria-hidden className="size-4" />
          ) : (
            <Table2 aria-hidden className="size-4" />
          )}
        </IconButton>
      </div>
      {isTable ? (
        <ChartTable label={label} data={data} />
      ) : (
        <ChartDrawing label={label} data={data} />
      )}
      {note !== undefined && (
        <figcaption className="px-5 pb-3 text-xs text-ink-faint">{note}</figcaption>
      )}
    </figure>
  )
}

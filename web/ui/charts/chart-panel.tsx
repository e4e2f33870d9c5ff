/** A chart with its legend, and a switch between the drawing and its figures. */
import { ChartLine, Table2 } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../button.tsx'
import { ChartDrawing } from './chart-drawing.tsx'
import type { TimeChartData } from './chart-series.ts'
import { ChartTable } from './chart-table.tsx'
import { SeriesSample } from './series-sample.tsx'
import type { AddressOf } from './step-links.ts'

export function ChartPanel({
  label,
  data,
  addressOf,
  note,
}: {
  readonly label: string
  readonly data: TimeChartData
  /** The log's address for the calls of a step. Undefined: nothing leads on. */
  readonly addressOf?: AddressOf
  readonly note?: string
}) {
  const [isTable, setTable] = useState(false)
  return (
    <figure className="m-0" aria-label={label}>
      <div className="flex items-start justify-between gap-3 px-4 pt-3">
        <ul
          aria-label="Legend"
          className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 py-1.5 text-xs text-ink-soft"
        >
          {data.series.map((series) => (
            <li key={series.key} className="flex min-w-0 items-center gap-1.5">
              <SeriesSample series={series} />
              <span className="truncate">{series.label}</span>
            </li>
          ))}
          {data.runningFromMs !== undefined && (
            <li className="flex items-center gap-1.5">
              <span
                aria-hidden
                className="size-2.5 shrink-0 border border-dashed border-ink-soft"
              />
              Not over yet
            </li>
          )}
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
        <ChartTable label={label} data={data} addressOf={addressOf} />
      ) : (
        <ChartDrawing label={label} data={data} addressOf={addressOf} />
      )}
      {note !== undefined && note.trim() !== '' && (
        <figcaption className="px-5 pb-3 text-xs text-ink-faint">{note}</figcaption>
      )}
    </figure>
  )
}

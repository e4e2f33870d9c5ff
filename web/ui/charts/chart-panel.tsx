import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChartLine, Table2 } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { LOGS } from '../../format/calls-behind.ts'
import { IconButton } from '../button.tsx'
import { ErrorState, Skeleton } from '../states.tsx'
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
  /** The log's address for the calls of a step. Undefined for a chart without links. */
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
              Current period (incomplete)
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

const HEIGHT_PX = 260
const PLACE_HEIGHT_PX = HEIGHT_PX + 20

const DRAWINGS = {
  line: async () => ({ Chart: (await import('./line-chart.tsx')).LineChart }),
  stack: async () => ({ Chart: (await import('./stacked-chart.tsx')).StackedChart }),
} as const

/**
 * A chart's drawing, loaded once the chart comes into view, because the drawing library is the
 * largest part of the pages.
 */
function ChartDrawing({
  label,
  data,
  addressOf,
}: {
  readonly label: string
  readonly data: TimeChartData
  readonly addressOf: AddressOf | undefined
}) {
  const navigate = useNavigate()
  const open =
    addressOf &&
    ((startMs: number, key: string | undefined) =>
      void navigate({ to: LOGS, search: addressOf(startMs, key) }))
  const place = useRef<HTMLDivElement>(null)
  const wasSeen = useWasSeen(place)
  const isPrinting = useIsPrinting()
  const look = data.series.some((one) => one.look === 'stack') ? 'stack' : 'line'
  const drawing = useQuery({
    queryKey: ['chart', look],
    queryFn: DRAWINGS[look],
    enabled: wasSeen,
    staleTime: Number.POSITIVE_INFINITY,
    retry: 1,
  })
  return (
    <div ref={place}>
      {isPrinting && drawing.data === undefined ? (
        // Printing does not wait, so a chart that is not loaded yet is printed as its figures.
        <ChartTable label={label} data={data} addressOf={undefined} />
      ) : (
        <div className="px-3 pb-3 sm:px-4">
          <div style={{ minHeight: PLACE_HEIGHT_PX }}>
            {drawing.data !== undefined ? (
              <drawing.data.Chart label={label} data={data} heightPx={HEIGHT_PX} open={open} />
            ) : drawing.isError ? (
              <ErrorState
                error={drawing.error}
                message="The drawing could not be fetched. The table has its figures; reloading the page may help."
                retry={() => void drawing.refetch()}
              />
            ) : (
              <div role="status" aria-label="Loading the chart" style={{ height: PLACE_HEIGHT_PX }}>
                <Skeleton className="size-full" />
              </div>
            )}
          </div>
        </div>
      )}
    </div>
  )
}

function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // Synchronous, because the browser prints the page as it is when the listener returns.
    const begin = () => flushSync(() => setPrinting(true))
    const end = () => setPrinting(false)
    window.addEventListener('beforeprint', begin)
    window.addEventListener('afterprint', end)
    return () => {
      window.removeEventListener('beforeprint', begin)
      window.removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting
}

/** Slightly earlier than the view, so that a chart is ready when a reader scrolls on. */
const AHEAD = '200px 0px'

function useWasSeen(place: RefObject<Element | null>): boolean {
  const [wasSeen, setSeen] = useState(false)
  useEffect(() => {
    if (wasSeen || place.current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      { rootMargin: AHEAD },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [wasSeen, place])
  return wasSeen
}

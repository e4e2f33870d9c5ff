import { type KeyboardEvent, type MouseEvent, useId, useState } from 'react'
import { formatCount, formatShare } from '../../format/figures.ts'
import type { StepLength } from '../../format/time-range.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { formatStep, formatStepShort } from '../../format/times.ts'
import { useTimeZone } from '../use-time-zone.ts'
import { RUNNING_DASHES } from './chart-series.ts'
import { useSecondTap } from './step-links.ts'

const HEIGHT_PX = 260
const LABELS = 7

interface Cell {
  readonly column: number
  readonly row: number
}

export function HeatMap({
  label,
  data,
  step,
  runningFromMs,
  format,
  open,
}: {
  readonly label: string
  readonly data: HeatData
  readonly runningFromMs: number | undefined
  readonly step: StepLength
  readonly format: (value: number) => string
  readonly open: (startMs: number, range: HeatRange) => void
}) {
  const readoutId = useId()
  const zone = useTimeZone()
  const [cell, setCell] = useState<Cell>()
  const { steps, highest } = data
  const ranges = data.ranges.toReversed()
  const spanMs = (steps.at(-1)?.startMs ?? 0) - (steps[0]?.startMs ?? 0)

  const shouldOpen = useSecondTap()
  const toCell = (event: MouseEvent<HTMLDivElement>): Cell => {
    const box = event.currentTarget.getBoundingClientRect()
    const column = Math.floor(((event.clientX - box.left) / box.width) * steps.length)
    const row = Math.floor(((event.clientY - box.top) / box.height) * ranges.length)
    return { column: clamp(column, steps.length), row: clamp(row, ranges.length) }
  }
  const openCell = ({ column, row }: Cell) => {
    const [at, range] = [steps[column], ranges[row]]
    if (at !== undefined && range !== undefined && (at.counts[range.index] ?? 0) > 0)
      open(at.startMs, range)
  }
  const click = (event: MouseEvent<HTMLDivElement>) => {
    const clicked = toCell(event)
    setCell(clicked)
    if (shouldOpen(event, `${clicked.column} ${clicked.row}`)) openCell(clicked)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && cell !== undefined) openCell(cell)
    const move = MOVES[event.key]
    if (move === undefined) return
    event.preventDefault()
    const from = cell ?? {
      column: steps.length - 1 - move.column,
      row: ranges.length - 1 - move.row,
    }
    setCell({
      column: clamp(from.column + move.column, steps.length),
      row: clamp(from.row + move.row, ranges.length),
    })
  }
  return (
    <div>
      <div className="flex gap-2">
        <ValueAxis ranges={ranges} format={format} />
        <div className="min-w-0 flex-1">
          <div
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move between its cells
            tabIndex={0}
            aria-label={`${label}. ${formatCount(data.total)} calls in ${steps.length} steps. Arrow keys move from cell to cell, Enter shows the calls of one.`}
            aria-describedby={readoutId}
            onClick={click}
            onPointerMove={(event) => setCell(toCell(event))}
            onPointerLeave={({ pointerType }) => pointerType !== 'touch' && setCell(undefined)}
            onKeyDown={press}
            className="relative cursor-pointer rounded-sm bg-sunken"
            style={{ height: HEIGHT_PX }}
          >
            <svg
              aria-hidden="true"
              viewBox={`0 0 ${steps.length} ${ranges.length}`}
              preserveAspectRatio="none"
              className="absolute inset-0 size-full"
            >
              {steps.map(({ startMs, counts }, column) =>
                ranges.map(({ index }, row) => {
                  const heat = heatOf(counts[index] ?? 0, highest)
                  return heat === 0 ? null : (
                    <rect
                      key={`${startMs}-${index}`}
                      x={column + 0.04}
                      y={row + 0.04}
                      width={0.92}
                      height={0.92}
                      fill="var(--chart-1)"
                      fillOpacity={heat}
                    />
                  )
                }),
              )}
              {runningFromMs !== undefined && (
                <rect
                  className="running"
                  x={steps.length - 1}
                  y={0}
                  width={1}
                  height={ranges.length}
                  fill="none"
                  stroke="var(--ink-soft)"
                  strokeDasharray={RUNNING_DASHES}
                  vectorEffect="non-scaling-stroke"
                />
              )}
              {cell !== undefined && (
                <rect
                  x={cell.column}
                  y={cell.row}
                  width={1}
                  height={1}
                  fill="none"
                  stroke="var(--ink)"
                  strokeWidth={1.5}
                  vectorEffect="non-scaling-stroke"
                />
              )}
            </svg>
          </div>
          <div aria-hidden className="mt-2 flex justify-between text-xs text-ink-faint">
            {pickEvenly(steps, LABELS).map(({ startMs }) => (
              <span key={startMs} className="whitespace-nowrap max-sm:nth-[even]:hidden">
                {formatStepShort(startMs, step, { zone, spanMs })}
              </span>
            ))}
          </div>
        </div>
      </div>
      <p
        id={readoutId}
        aria-live="polite"
        className="mt-2 min-h-5 pl-14 text-[13px] tabular-nums text-ink-soft"
      >
        {cell === undefined ? (
          <Scale highest={highest} isRunning={runningFromMs !== undefined} />
        ) : (
          describeCell(data, cell, { ranges, format, step, zone, runningFromMs })
        )}
      </p>
    </div>
  )
}

const MOVES: Readonly<Record<string, Cell>> = {
  ArrowLeft: { column: -1, row: 0 },
  ArrowRight: { column: 1, row: 0 },
  ArrowUp: { column: 0, row: -1 },
  ArrowDown: { column: 0, row: 1 },
}

function clamp(value: number, length: number): number {
  return Math.max(0, Math.min(length - 1, value))
}

function describeCell(
  { steps }: HeatData,
  { column, row }: Cell,
  shown: {
    readonly ranges: readonly HeatRange[]
    readonly format: (value: number) => string
    readonly step: StepLength
    readonly zone: TimeZone
    readonly runningFromMs: number | undefined
  },
): string {
  const [step, range] = [steps[column], shown.ranges[row]]
  if (step === undefined || range === undefined) return ''
  const count = step.counts[range.index] ?? 0
  const all = step.counts.reduce((sum, one) => sum + one, 0)
  const share = all === 0 ? '' : `, ${formatShare(count / all)} of this step`
  const soFar = step.startMs === shown.runningFromMs ? ', so far' : ''
  return `${formatStep(step.startMs, shown.step, shown.zone)}${soFar} · ${describeRange(range, shown.format)}: ${formatCount(count)} ${count === 1 ? 'call' : 'calls'}${share}`
}

export function describeRange(
  { from, to }: Pick<HeatRange, 'from' | 'to'>,
  format: (value: number) => string,
): string {
  if (to === null) return `${format(from)} and more`
  return from === 0 ? `below ${format(to)}` : `${format(from)} – ${format(to)}`
}

function ValueAxis({
  ranges,
  format,
}: {
  readonly ranges: readonly HeatRange[]
  readonly format: (value: number) => string
}) {
  const every = Math.max(1, Math.ceil(ranges.length / LABELS))
  return (
    <div
      aria-hidden
      className="relative w-12 shrink-0 text-xs text-ink-faint"
      style={{ height: HEIGHT_PX }}
    >
      {ranges.map(({ from, index }, row) =>
        (ranges.length - 1 - row) % every === 0 ? (
          <span
            key={index}
            className="absolute right-0 -translate-y-1/2 whitespace-nowrap"
            style={{ top: `${((row + 1) / ranges.length) * 100}%` }}
          >
            {format(from)}
          </span>
        ) : null,
      )}
    </div>
  )
}

function Scale({ highest, isRunning }: { readonly highest: number; readonly isRunning: boolean }) {
  return (
    <span className="flex items-center gap-2 text-xs text-ink-faint">
      1
      <span aria-hidden className="flex">
        {[0, 0.1, 0.25, 0.5, 0.75, 1].map((share) => (
          <span
            key={share}
            className="h-2.5 w-4"
            style={{ background: 'var(--chart-1)', opacity: heatOf(share * highest || 1, highest) }}
          />
        ))}
      </span>
      {formatCount(highest)} calls
      {isRunning && (
        <>
          <span aria-hidden className="ml-3 h-3 w-2 border border-dashed border-ink-soft" />
          Current period (incomplete)
        </>
      )}
    </span>
  )
}

function pickEvenly<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items
  const every = (items.length - 1) / (count - 1)
  return Array.from({ length: count }, (_, index) => items[Math.round(index * every)]).filter(
    (item) => item !== undefined,
  )
}

export interface HeatRange {
  readonly from: number
  readonly to: number | null
  readonly index: number
}

interface HeatStep {
  readonly startMs: number
  readonly counts: readonly number[]
}

export interface HeatData {
  readonly ranges: readonly HeatRange[]
  readonly steps: readonly HeatStep[]
  readonly highest: number
  readonly total: number
}

export function toHeatData(
  starts: readonly number[],
  ranges: readonly { readonly from: number; readonly to: number | null }[],
  counted: ReadonlyMap<number, readonly number[]>,
): HeatData {
  const steps = starts.map((startMs) => ({ startMs, counts: counted.get(startMs) ?? [] }))
  const isUsed = ranges.map((_, index) => steps.some(({ counts }) => (counts[index] ?? 0) > 0))
  const [lowest, uppermost] = [isUsed.indexOf(true), isUsed.lastIndexOf(true)]
  const all = steps.flatMap(({ counts }) => counts)
  return {
    ranges:
      lowest < 0
        ? []
        : ranges.map((range, index) => ({ ...range, index })).slice(lowest, uppermost + 1),
    steps,
    highest: all.reduce((highest, count) => Math.max(highest, count), 0),
    total: all.reduce((sum, count) => sum + count, 0),
  }
}

/** Opacity of a cell with few calls, still visible beside empty cells. */
const FAINTEST = 0.2

/**
 * A cell's intensity, 0 to 1. The square root keeps a few slow calls visible beside many fast
 * calls.
 */
export function heatOf(count: number, highest: number): number {
  return count === 0 || highest === 0 ? 0 : FAINTEST + (1 - FAINTEST) * Math.sqrt(count / highest)
}

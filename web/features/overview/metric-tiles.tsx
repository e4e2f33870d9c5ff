/** The account's figures in one row; the one that is chosen is drawn below. */
import { type KeyboardEvent, useRef } from 'react'
import { formatChange, formatCount, formatWhole } from '../../format/figures.ts'
import {
  type Measure,
  readErrors,
  readUnknown,
  type UsageFigures,
} from '../../format/usage-measures.ts'
import { classNames } from '../../ui/class-names.ts'
import { moveAmongTabs } from '../../ui/move-among-tabs.ts'
import { Skeleton } from '../../ui/states.tsx'
import { OVERVIEW_METRICS, type OverviewMetric } from './overview-metrics.ts'

export const PANEL_ID = 'overview-chart'

export const tabId = (id: string) => `overview-tab-${id}`

export interface Compared {
  /** Of the whole range. */
  readonly now: UsageFigures | undefined
  /** Of as much of it as is over: this is what is compared. */
  readonly over: UsageFigures | undefined
  readonly before: UsageFigures | undefined
  readonly isLoading: boolean
}

export function MetricTiles({
  compared,
  chosen,
  onChoose,
}: {
  readonly compared: Compared
  readonly chosen: string
  readonly onChoose: (id: string) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  const press = (event: KeyboardEvent, from: number) => {
    const next = moveAmongTabs(event.key, { from, count: OVERVIEW_METRICS.length })
    const metric = next === undefined ? undefined : OVERVIEW_METRICS[next]
    if (metric === undefined) return
    event.preventDefault()
    onChoose(metric.id)
    list.current?.querySelector<HTMLElement>(`#${tabId(metric.id)}`)?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label="Figures"
      className="grid grid-cols-2 gap-px overflow-hidden rounded-t-xl border-b border-line bg-line sm:grid-cols-3 xl:grid-cols-6"
    >
      {OVERVIEW_METRICS.map((metric, index) => (
        <button
          key={metric.id}
          type="button"
          role="tab"
          id={tabId(metric.id)}
          aria-selected={metric.id === chosen}
          aria-controls={PANEL_ID}
          tabIndex={metric.id === chosen ? 0 : -1}
          onClick={() => onChoose(metric.id)}
          onKeyDown={(event) => press(event, index)}
          className={classNames(
            'relative flex min-w-0 flex-col items-start gap-1 px-4 py-3.5 text-left transition-colors focus-visible:-outline-offset-2',
            metric.id === chosen
              ? 'bg-surface after:absolute after:inset-x-0 after:bottom-0 after:h-0.5 after:bg-accent'
              : 'bg-surface hover:bg-sunken',
          )}
        >
          <Tile metric={metric} compared={compared} />
        </button>
      ))}
    </div>
  )
}

function Tile({
  metric,
  compared,
}: {
  readonly metric: OverviewMetric
  readonly compared: Compared
}) {
  const { now, over, before, isLoading } = compared
  const read = (measure: Measure) =>
    measure.format(now === undefined ? empty(measure) : measure.read(now))
  return (
    <>
      <span className="text-[13px] text-ink-soft">{metric.label}</span>
      <span className="flex h-7 items-center text-[22px] leading-7 font-semibold tracking-tight tabular-nums text-ink">
        {isLoading ? <Skeleton className="h-6 w-20" /> : read(metric.main)}
      </span>
      <span className="flex min-h-4 flex-wrap items-baseline gap-x-2 text-xs text-ink-faint tabular-nums">
        {!isLoading && <Change measure={metric.main} now={over} before={before} />}
        {!isLoading &&
          now !== undefined &&
          metric.besides.map(([name, measure]) => (
            <span key={name} className="whitespace-nowrap">
              {name === 'calls'
                ? `${read(measure)} of ${CALLS_OF(now)}`
                : `${name} ${read(measure)}`}
            </span>
          ))}
        {!isLoading && metric.id === 'cost' && now !== undefined && <Unknown now={now} />}
      </span>
    </>
  )
}

/** The calls that are missing from the cost. Failed and refused calls are not among them. */
function Unknown({ now }: { readonly now: UsageFigures }) {
  const { unpriced, unreported } = readUnknown(now)
  return (
    <>
      {unpriced > 0 && (
        <span className="whitespace-nowrap" title="Calls to models that have no price.">
          {formatCount(unpriced)} unpriced
        </span>
      )}
      {unreported > 0 && (
        <span className="whitespace-nowrap" title="Calls whose provider reported no tokens.">
          {formatCount(unreported)} without tokens
        </span>
      )}
    </>
  )
}

const CALLS_OF = (now: UsageFigures) => formatWhole(readErrors(now).asked)

/** Nothing was called: what adds up is zero, everything else is not known. */
function empty(measure: Measure): number | null {
  return measure.isSummable ? 0 : null
}

/** Told by sign and words, coloured only where a direction is good or bad. */
function Change({
  measure,
  now,
  before,
}: {
  readonly measure: Measure
  readonly now: UsageFigures | undefined
  readonly before: UsageFigures | undefined
}) {
  if (before === undefined) return null
  const [value, earlier] = [
    now === undefined ? empty(measure) : measure.read(now),
    measure.read(before),
  ]
  const change = formatChange(value, earlier)
  if (change === undefined || value === null || earlier === null) return null
  const isWorse = value > earlier
  const tone =
    measure.isBetterWhenLess !== true || value === earlier
      ? ''
      : isWorse
        ? 'text-danger'
        : 'text-ok'
  return (
    <span
      className={classNames('whitespace-nowrap', tone)}
      title={`${measure.format(value)} in the hours that are over, ${measure.format(earlier)} in those of the period before`}
    >
      {change}
    </span>
  )
}

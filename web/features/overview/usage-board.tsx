import { type KeyboardEvent, lazy, Suspense, useRef } from 'react'
import { toLogAddress } from '../../format/calls-behind.ts'
import { formatChange, formatCount, formatWhole } from '../../format/figures.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { formatDate, formatDateHour, zoneOfSteps } from '../../format/times.ts'
import {
  type Measure,
  readErrors,
  readUnknown,
  type UsageFigures,
} from '../../format/usage-measures.ts'
import { Card } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { classNames } from '../../ui/class-names.ts'
import { moveAmongTabs } from '../../ui/move-among-tabs.ts'
import { Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { OVERVIEW_METRICS, type OverviewMetric, subtract, toChartData } from './overview-metrics.ts'
import { useSpend, useSums } from './use-overview.ts'

/** Apart from the first load, whose size is limited. */
const SpendChart = lazy(async () => ({ default: (await import('./spend-chart.tsx')).SpendChart }))

export function UsageBoard({
  range,
  everyMs,
  chosen,
  onChoose,
}: {
  readonly range: ResolvedRange
  readonly everyMs: number | false
  readonly chosen: string
  readonly onChoose: (id: string) => void
}) {
  const zone = useTimeZone()
  const { failed, drawn, shown } = useComparedSums(range, everyMs, chosen)
  const { current, compared, step, runningFromMs } = shown.range
  const { now, running, earlier } = shown
  const isLoading = now === undefined
  const { steps, earlierSteps } = shown.drawn === drawn ? shown : {}
  const metric = OVERVIEW_METRICS.find(({ id }) => id === chosen)
  const data =
    metric === undefined || steps === undefined
      ? undefined
      : toChartData(metric, {
          current: { period: current, step, sums: steps },
          before: compared && earlierSteps && { period: compared.before, step, sums: earlierSteps },
          runningFromMs,
        })
  const note = `${describeCompared(shown.range, earlier !== null, zone)} ${describeUtcDays(shown.range, zone)}`
  return (
    <Card>
      <MetricTiles
        compared={{
          now: now ?? undefined,
          over: now && running ? subtract(now, running) : (now ?? undefined),
          before: earlier ?? undefined,
          isLoading,
        }}
        chosen={chosen}
        onChoose={onChoose}
      />
      <div role="tabpanel" id={PANEL_ID} aria-labelledby={tabId(chosen)} className="min-h-[340px]">
        {failed !== undefined ? (
          <SumsError error={failed.error} retry={() => void failed.refetch()} />
        ) : chosen === 'cost' && !isLoading ? (
          <Suspense fallback={<Skeleton className="m-5 h-[300px]" />}>
            <SpendChart range={range} everyMs={everyMs} note={note} />
          </Suspense>
        ) : data === undefined || metric === undefined ? (
          <Skeleton className="m-5 h-[300px]" />
        ) : (
          <ChartPanel
            label={`${metric.label} over time`}
            data={data}
            addressOf={(startMs) =>
              toLogAddress({
                period: periodOfStep(shown.range, startMs),
                filters: metric.id === 'errors' ? { outcome: 'failed' } : {},
              })
            }
            note={note}
          />
        )}
      </div>
    </Card>
  )
}

/**
 * All figures on the board are of one range: the previous range stays until the next range is
 * complete. Steps are read for the chosen figure, because their percentiles are slow to read.
 */
function useComparedSums(range: ResolvedRange, everyMs: number | false, chosen: string) {
  const { current, compared, step } = range
  const { query, total } = useSpend(range, everyMs)
  const earlier = useSums(compared?.before, 'all', { everyMs: false, percentiles: true })
  const isRunning = compared !== undefined && compared.finished.toMs < current.toMs
  const rest = isRunning ? { ...current, fromMs: compared.finished.toMs } : undefined
  const running = useSums(rest, 'all', { everyMs })
  const percentiles = chosen === 'latency' || chosen === 'first-token'
  // The chart of spend reads its steps itself.
  const isOwn = chosen !== 'cost'
  const steps = useSums(isOwn ? current : undefined, step, { everyMs, percentiles })
  const before = isOwn ? compared?.before : undefined
  const earlierSteps = useSums(before, step, { everyMs: false, percentiles })
  const drawn = isOwn && String(percentiles)
  const first = (of: typeof earlier) => of.data && (of.data.data[0] ?? null)
  const shown = useSettled(
    {
      ...{ range, drawn, now: total, earlier: first(earlier), running: first(running) },
      ...{ steps: steps.data?.data, earlierSteps: earlierSteps.data?.data },
    },
    [
      query,
      ...(compared === undefined ? [] : [earlier]),
      ...(isRunning ? [running] : []),
      ...(isOwn ? [steps] : []),
      ...(before === undefined ? [] : [earlierSteps]),
    ],
  )
  return { failed: steps.isError && steps.data === undefined ? steps : undefined, drawn, shown }
}

function describeCompared(
  { compared, ...range }: ResolvedRange,
  hasCalls: boolean,
  zone: TimeZone,
): string {
  if (compared === undefined)
    return 'The range has no complete hour yet, so no comparison is shown.'
  const { finished, before } = compared
  const shown = range.hasUtcDays ? 'utc' : zoneOfSteps(range.step, zone)
  const [format, lastMs] = range.isOngoing ? [formatDateHour, 0] : [formatDate, 1]
  const stretch = `${format(before.fromMs, shown)} to ${format(before.toMs - lastMs, shown)}`
  if (!hasCalls) return `No comparison is shown, because there were no calls from ${stretch}.`
  if (!range.isOngoing) return `Compared with ${stretch}.`
  return `Changes are up to ${formatDateHour(finished.toMs, shown)}, compared with ${stretch}.`
}

const PANEL_ID = 'overview-chart'

const tabId = (id: string) => `overview-tab-${id}`

interface Compared {
  readonly now: UsageFigures | undefined
  readonly over: UsageFigures | undefined
  readonly before: UsageFigures | undefined
  readonly isLoading: boolean
}

function MetricTiles({
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
        {!isLoading && metric.id === 'calls' && now !== undefined && <Refused now={now} />}
      </span>
    </>
  )
}

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

/** Explains why errors are counted among fewer calls. */
function Refused({ now }: { readonly now: UsageFigures }) {
  const refused = now.calls - readErrors(now).asked
  return (
    refused > 0 && (
      <span className="whitespace-nowrap" title="Refused before any provider was asked.">
        {formatCount(refused)} refused
      </span>
    )
  )
}

const CALLS_OF = (now: UsageFigures) => formatWhole(readErrors(now).asked)

function empty(measure: Measure): number | null {
  return measure.isSummable ? 0 : null
}

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

/** The figures of a range, each compared with the range before, and the chosen one over time. */
import { toLogAddress } from '../../format/calls-behind.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { formatDate, formatDateHour, zoneOfSteps } from '../../format/times.ts'
import { Card } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { MetricTiles, PANEL_ID, tabId } from './metric-tiles.tsx'
import { OVERVIEW_METRICS, toChartData } from './overview-metrics.ts'
import { useSums } from './use-overview.ts'

export function UsageBoard({
  range,
  everyMs,
  chosen,
  onChoose,
}: {
  readonly range: ResolvedRange
  readonly everyMs: number | false
  /** The id of the metric that is drawn. */
  readonly chosen: string
  readonly onChoose: (id: string) => void
}) {
  const zone = useTimeZone()
  const { failed, isLoading, shown } = useComparedSums(range, everyMs)
  const { current, compared, step, runningFromMs } = shown.range
  const { steps, earlierSteps } = shown
  const metric = OVERVIEW_METRICS.find(({ id }) => id === chosen)
  const data =
    metric === undefined || steps === undefined
      ? undefined
      : toChartData(metric, {
          current: { period: current, step, sums: steps },
          before: compared && earlierSteps && { period: compared.before, step, sums: earlierSteps },
          runningFromMs,
        })
  return (
    <Card>
      <MetricTiles
        compared={{
          now: shown.now?.[0],
          over: shown.over?.[0],
          before: shown.over && shown.earlier?.[0],
          isLoading,
        }}
        chosen={chosen}
        onChoose={onChoose}
      />
      <div role="tabpanel" id={PANEL_ID} aria-labelledby={tabId(chosen)} className="min-h-[340px]">
        {failed !== undefined ? (
          <SumsError error={failed.error} retry={() => void failed.refetch()} />
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
            note={`${describeCompared(shown.range, shown.earlier?.length !== 0, zone)} ${describeUtcDays(shown.range, zone)}`}
          />
        )}
      </div>
    </Card>
  )
}

/** All that the board shows is of one range: the one before stays until the next is whole. */
function useComparedSums(range: ResolvedRange, everyMs: number | false) {
  const { current, compared, step } = range
  const now = useSums(current, 'all', { everyMs })
  const steps = useSums(current, step, { everyMs })
  const over = useSums(compared?.finished, 'all', { everyMs })
  const earlier = useSums(compared?.before, 'all', { everyMs: false })
  const earlierSteps = useSums(compared?.before, step, { everyMs: false })
  const shown = useSettled(
    {
      ...{ range, now: now.data?.data, steps: steps.data?.data, over: over.data?.data },
      ...{ earlier: earlier.data?.data, earlierSteps: earlierSteps.data?.data },
    },
    compared === undefined ? [now, steps] : [now, steps, over, earlier, earlierSteps],
  )
  return {
    failed: [now, steps].find((query) => query.isError && query.data === undefined),
    isLoading: shown.now === undefined,
    shown,
  }
}

/** Names the stretches that the changes compare. */
function describeCompared(
  { compared, ...range }: ResolvedRange,
  hasCalls: boolean,
  zone: TimeZone,
): string {
  if (compared === undefined) return 'No hour of it is over: there is nothing to compare yet.'
  const { finished, before } = compared
  const shown = range.hasUtcDays ? 'utc' : zoneOfSteps(range.step, zone)
  const [format, lastMs] = range.isOngoing ? [formatDateHour, 0] : [formatDate, 1]
  const stretch = `${format(before.fromMs, shown)} to ${format(before.toMs - lastMs, shown)}`
  if (!hasCalls) return `There is nothing to compare with: no calls from ${stretch}.`
  if (!range.isOngoing) return `Compared with ${stretch}.`
  return `Changes are up to ${formatDateHour(finished.toMs, shown)}, compared with ${stretch}.`
}

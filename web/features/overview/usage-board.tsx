/** The figures of a range, each compared with the range before, and the chosen one over time. */
import { useState } from 'react'
import { toLogAddress } from '../../format/calls-behind.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { formatDate, formatDateHour, zoneOfSteps } from '../../format/times.ts'
import { Card } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { MetricTiles, PANEL_ID, tabId } from './metric-tiles.tsx'
import { OVERVIEW_METRICS, toChartData } from './overview-metrics.ts'
import { useSums } from './use-overview.ts'

export function UsageBoard({
  range,
  everyMs,
}: {
  readonly range: ResolvedRange
  readonly everyMs: number | false
}) {
  const [chosen, setChosen] = useState('calls')
  const { current, compared, step, runningFromMs } = range
  const zone = useTimeZone()
  const now = useSums(current, 'all', { everyMs })
  const over = useSums(compared?.finished, 'all', { everyMs })
  const earlier = useSums(compared?.before, 'all', { everyMs: false })
  const steps = useSums(current, step, { everyMs })
  const earlierSteps = useSums(compared?.before, step, { everyMs: false })
  const failed = [now, steps].find((query) => query.isError && query.data === undefined)
  const metric = OVERVIEW_METRICS.find(({ id }) => id === chosen)
  const data =
    metric === undefined || steps.data === undefined
      ? undefined
      : toChartData(metric, {
          current: { period: current, step, sums: steps.data.data },
          before: compared &&
            earlierSteps.data && { period: compared.before, step, sums: earlierSteps.data.data },
          runningFromMs,
        })
  return (
    <Card>
      <MetricTiles
        compared={{
          now: now.data?.data[0],
          over: over.data?.data[0],
          before: over.data && earlier.data?.data[0],
          isLoading: now.data === undefined,
        }}
        chosen={chosen}
        onChoose={setChosen}
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
                period: periodOfStep(range, startMs),
                filters: metric.id === 'errors' ? { outcome: 'failed' } : {},
              })
            }
            note={`${describeCompared(range, earlier.data?.data.length !== 0, zone)} ${describeUtcDays(range, zone)}`}
          />
        )}
      </div>
    </Card>
  )
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

/** The figures of a range, each compared with the range before, and the chosen one over time. */
import { useState } from 'react'
import type { Period, ResolvedRange } from '../../format/time-range.ts'
import { formatDate } from '../../format/times.ts'
import { Card } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
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
  const { current, before, step } = range
  const now = useSums(current, 'all', { everyMs })
  const earlier = useSums(before, 'all', { everyMs: false })
  const steps = useSums(current, step, { everyMs })
  const earlierSteps = useSums(before, step, { everyMs: false })
  const failed = [now, steps].find((query) => query.isError && query.data === undefined)
  const metric = OVERVIEW_METRICS.find(({ id }) => id === chosen)
  const data =
    metric === undefined || steps.data === undefined
      ? undefined
      : toChartData(
          metric,
          { period: current, step, sums: steps.data.data },
          earlierSteps.data && { period: before, step, sums: earlierSteps.data.data },
        )
  return (
    <Card>
      <MetricTiles
        compared={{
          now: now.data?.data[0],
          before: earlier.data?.data[0],
          isLoading: now.data === undefined,
        }}
        chosen={chosen}
        onChoose={setChosen}
      />
      <div role="tabpanel" id={PANEL_ID} aria-labelledby={tabId(chosen)} className="min-h-[340px]">
        {failed !== undefined ? (
          <ErrorState error={failed.error} retry={() => void failed.refetch()} />
        ) : data === undefined || metric === undefined ? (
          <Skeleton className="m-5 h-[300px]" />
        ) : (
          <ChartPanel
            label={`${metric.label} over time`}
            data={data}
            note={`${describeBefore(before, earlier.data?.data.length !== 0)}${step === 'hour' ? '' : ` Each ${step} is one of UTC.`}`}
          />
        )}
      </div>
    </Card>
  )
}

function describeBefore({ fromMs, toMs }: Period, hasCalls: boolean): string {
  const days = `${formatDate(fromMs)} to ${formatDate(toMs - 1)}`
  return hasCalls
    ? `Compared with ${days}.`
    : `There is nothing to compare with: no calls from ${days}.`
}

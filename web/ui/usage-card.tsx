import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operationQuery } from '../api/operation-query.ts'
import { toLogAddress } from '../format/calls-behind.ts'
import { formatShare, formatWhole } from '../format/figures.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../format/time-range.ts'
import {
  CALLS,
  COST,
  ERRORS,
  type Measure,
  readErrorRate,
  readUnknown,
  TOKENS,
  type UsageFigures,
} from '../format/usage-measures.ts'
import { Card, CardHeader } from './card.tsx'
import { ChartPanel } from './charts/chart-panel.tsx'
import type { TimeChartData } from './charts/chart-series.ts'
import { type FilledPeriod, fillSteps } from './charts/fill-steps.ts'
import { lineColor, lineDashes } from './charts/palette.ts'
import { Fact, Facts } from './facts.tsx'
import { CONTROL_CLASS } from './field.tsx'
import { PageLink } from './links.tsx'
import { Skeleton } from './states.tsx'
import { SumsError } from './sums-error.tsx'
import { useSettled } from './use-settled.ts'
import { useTimeZone } from './use-time-zone.ts'

export type SumFilters = Readonly<Partial<Record<'gate' | 'key' | 'user', string>>>

const MEASURES: readonly Measure[] = [CALLS, COST, TOKENS, ERRORS]

/** The calls, cost, tokens and errors of whatever the filters choose, over a range. */
export function UsageCard({
  filters,
  range,
  first = CALLS,
}: {
  readonly filters: SumFilters
  readonly range: ResolvedRange
  /** The measure that is shown first. */
  readonly first?: Measure
}) {
  const zone = useTimeZone()
  const [chosen, setChosen] = useState(first.label)
  const measure = MEASURES.find(({ label }) => label === chosen) ?? CALLS
  const sums = useFilteredSums(filters, range)
  const { total: sum, data: steps } = sums.data ?? {}
  const shown = useSettled({ range, sum, steps }, [sums])
  const { current, step, runningFromMs } = shown.range
  const logs = (more: Readonly<Record<string, string>> = {}) =>
    toLogAddress({ period: current, filters: { ...filters, ...more } })
  return (
    <Card>
      <CardHeader title="Usage">
        <PageLink to="/analytics" search={filters} className="text-[13px]">
          Analytics
        </PageLink>
        <select
          aria-label="Which figure"
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
          className={`${CONTROL_CLASS} h-8 !w-auto !text-[13px]`}
        >
          {MEASURES.map(({ label }) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      </CardHeader>
      {sums.isError && sums.data === undefined ? (
        <SumsError error={sums.error} retry={() => void sums.refetch()} />
      ) : shown.steps === undefined ? (
        <Skeleton className="m-5 h-[340px]" />
      ) : (
        <>
          <Figures sum={shown.sum ?? undefined} logs={logs} />
          <ChartPanel
            label={`${measure.label} over time`}
            data={toData(measure, { period: current, step, sums: shown.steps }, runningFromMs)}
            addressOf={(startMs) =>
              toLogAddress({
                period: periodOfStep(shown.range, startMs),
                filters: { ...filters, ...(measure === ERRORS ? { outcome: 'failed' } : {}) },
              })
            }
            note={describeUtcDays(shown.range, zone)}
          />
        </>
      )}
    </Card>
  )
}

function useFilteredSums(filters: SumFilters, { current, step: interval }: ResolvedRange) {
  const from = new Date(current.fromMs).toISOString()
  const to = new Date(current.toMs).toISOString()
  return useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: { ...filters, from, to, interval, percentiles: false, totals: true },
    }),
    placeholderData: keepPreviousData,
  })
}

function Figures({
  sum,
  logs,
}: {
  readonly sum: UsageFigures | undefined
  readonly logs: (filters?: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
}) {
  const errors = sum === undefined ? 0 : (ERRORS.read(sum) ?? 0)
  const calls = sum?.calls ?? 0
  const unpriced = sum === undefined ? 0 : readUnknown(sum).unpriced
  return (
    <Facts>
      <Fact term="Calls">
        <Big>
          <PageLink to="/logs" search={logs()}>
            {formatWhole(calls)}
            <span className="sr-only"> {calls === 1 ? 'call' : 'calls'} in the logs</span>
          </PageLink>
        </Big>
      </Fact>
      <Fact term="Cost">
        <Big>{COST.format(sum === undefined ? 0 : COST.read(sum))}</Big>
        {unpriced > 0 && (
          <Small>
            {formatWhole(unpriced)} {unpriced === 1 ? 'call' : 'calls'} without a price
          </Small>
        )}
      </Fact>
      <Fact term="Tokens">
        <Big>{TOKENS.format(sum === undefined ? 0 : TOKENS.read(sum))}</Big>
      </Fact>
      <Fact term="Errors">
        <Big>
          {errors === 0 ? (
            0
          ) : (
            <PageLink to="/logs" search={logs({ outcome: 'failed' })}>
              {formatWhole(errors)}
              <span className="sr-only"> failed calls in the logs</span>
            </PageLink>
          )}
        </Big>
        {sum !== undefined && errors > 0 && <Small>{formatShare(readErrorRate(sum))}</Small>}
      </Fact>
    </Facts>
  )
}

function Big({ children }: { readonly children: React.ReactNode }) {
  return <span className="text-lg font-semibold tracking-tight">{children}</span>
}

function Small({ children }: { readonly children: React.ReactNode }) {
  return <span className="ml-2 text-xs text-ink-faint">{children}</span>
}

function toData(
  measure: Measure,
  filled: FilledPeriod,
  runningFromMs: number | undefined,
): TimeChartData {
  const { label, unit, format, isSummable } = measure
  return {
    rows: fillSteps(filled, measure).map(({ startMs, value }) => ({
      startMs,
      values: { [label]: value },
    })),
    series: [
      {
        key: label,
        label,
        color: lineColor(0),
        dashes: lineDashes(0),
        look: 'area',
        isSum: isSummable,
      },
    ],
    step: filled.step,
    runningFromMs,
    unit,
    format,
  }
}

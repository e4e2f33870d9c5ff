/** The distribution of calls' durations over time, which percentiles alone do not show. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Grid3x3, Table2 } from 'lucide-react'
import { useState } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { LOGS, toLogAddress } from '../../format/calls-behind.ts'
import { formatCount, formatDuration, formatShare } from '../../format/figures.ts'
import {
  describeUtcDays,
  listSteps,
  periodOfStep,
  type ResolvedRange,
} from '../../format/time-range.ts'
import { IconButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import {
  describeRange,
  type HeatData,
  HeatMap,
  type HeatRange,
  toHeatData,
} from '../../ui/charts/heat-map.tsx'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'

const TIMES = { durationMs: 'Duration', firstByteMs: 'Time to first token' } as const

export function LatencyCard({
  range,
  filters,
}: {
  readonly range: ResolvedRange
  readonly filters: { readonly gate?: string; readonly target?: string; readonly key?: string }
}) {
  const [time, setTime] = useState<keyof typeof TIMES>('durationMs')
  const [isTable, setTable] = useState(false)
  const zone = useTimeZone()
  const navigate = useNavigate()
  const latencies = useQuery({
    ...operationQuery('GET /v1/analytics/latency', {
      query: {
        from: new Date(range.current.fromMs).toISOString(),
        to: new Date(range.current.toMs).toISOString(),
        interval: range.step,
        ...filters,
      },
    }),
    placeholderData: keepPreviousData,
  })
  const shown = useSettled({ range, filters }, [latencies])
  const { current, step, runningFromMs } = shown.range
  const openCell = (startMs: number, { from, to }: HeatRange) =>
    void navigate({
      to: LOGS,
      search: toLogAddress({
        period: periodOfStep(shown.range, startMs),
        filters: { ...shown.filters, ...toLengths(time, from, to) },
      }),
    })
  return (
    <Card>
      <CardHeader
        title="Latency"
        note={`The stronger a cell's colour, the more calls took so long. All calls, failed ones too. ${describeUtcDays(shown.range, zone)}`}
      >
        <select
          aria-label="Which time"
          value={time}
          onChange={(event) =>
            setTime(event.target.value === 'durationMs' ? 'durationMs' : 'firstByteMs')
          }
          className={`${CONTROL_CLASS} h-8 !text-[13px]`}
        >
          {Object.entries(TIMES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <IconButton
          size="small"
          label={isTable ? 'Show the heat map' : 'Show the latencies as a table'}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? (
            <Grid3x3 aria-hidden className="size-4" />
          ) : (
            <Table2 aria-hidden className="size-4" />
          )}
        </IconButton>
      </CardHeader>
      <QueryBoundary
        query={latencies}
        loading={<Skeleton className="m-5 h-[280px]" />}
        failed={SumsError}
      >
        {({ ranges, data }) => {
          const heat = toHeatData(
            listSteps(current, step),
            ranges.map(({ fromMs, toMs }) => ({ from: fromMs, to: toMs })),
            new Map(
              data.map((one) => [Math.max(Date.parse(one.start), current.fromMs), one[time]]),
            ),
          )
          if (heat.total === 0)
            return (
              <p className="px-5 py-12 text-center text-[13px] text-ink-faint">
                Nothing to measure in this range
              </p>
            )
          if (isTable) return <SpreadTable heat={heat} label={TIMES[time]} />
          return (
            <div className="px-5 py-4">
              <HeatMap
                label={`${TIMES[time]} of calls over time`}
                data={heat}
                step={step}
                runningFromMs={runningFromMs}
                open={openCell}
                format={formatDuration}
              />
            </div>
          )
        }}
      </QueryBoundary>
    </Card>
  )
}

function toLengths(
  time: keyof typeof TIMES,
  from: number,
  to: number | null,
): Readonly<Record<string, string | undefined>> {
  const name = time === 'durationMs' ? 'duration' : 'firstByte'
  return { [`${name}FromMs`]: String(from), [`${name}ToMs`]: to === null ? undefined : String(to) }
}

function SpreadTable({ heat, label }: { readonly heat: HeatData; readonly label: string }) {
  return (
    <Table
      label={`${label} of calls as a table`}
      head={
        <>
          <Th>{label}</Th>
          <Th isNumber>Calls</Th>
          <Th isNumber>Share</Th>
        </>
      }
    >
      {heat.ranges.map((range) => {
        const calls = heat.steps.reduce((sum, { counts }) => sum + (counts[range.index] ?? 0), 0)
        return (
          <tr key={range.index}>
            <td className="text-ink-soft">{describeRange(range, formatDuration)}</td>
            <td className="text-right tabular-nums">{formatCount(calls)}</td>
            <td className="text-right tabular-nums">{formatShare(calls / heat.total)}</td>
          </tr>
        )
      })}
    </Table>
  )
}

/** Usage told apart: over time as a stacked chart, as a whole as a table, and as a file. */
import { useQuery } from '@tanstack/react-query'
import { ChartColumnStacked, Download } from 'lucide-react'
import { toCsv } from '../../../src/contract/csv.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { toLogAddress } from '../../format/calls-behind.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import { toDay } from '../../format/time-zone.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { NOTHING_PAINT, type Paint, paintAt } from '../../ui/charts/palette.ts'
import { usePaints } from '../../ui/charts/use-paints.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { EmptyState, RowSkeletons, Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { type Choices, DRAWN, type DrawnName, GROUPS, type GroupName } from './choices.ts'
import { CSV_COLUMNS, type Sum, sortSums } from './columns.ts'
import { type NameGroup, useGroupNames } from './group-names.ts'
import { toLogFilters } from './log-filters.ts'
import { groupOfSeries, listLargest, toStackedData } from './stacked-data.ts'
import { SumsTable } from './sums-table.tsx'

export function BreakdownCard({
  choices,
  range,
  onChange,
}: {
  readonly choices: Choices
  readonly range: ResolvedRange
  readonly onChange: (change: Partial<Choices>) => void
}) {
  const { by, show } = choices
  const zone = useTimeZone()
  const asked = {
    from: new Date(range.current.fromMs).toISOString(),
    to: new Date(range.current.toMs).toISOString(),
    ...choices.filters,
  }
  const totals = useQuery(
    operationQuery('GET /v1/analytics', { query: { ...asked, interval: 'all', group_by: by } }),
  )
  const steps = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { ...asked, interval: range.step, group_by: by },
    }),
  )
  const whole = useQuery(
    operationQuery('GET /v1/analytics', { query: { ...asked, interval: 'all' } }),
  )
  const shown = useSettled(
    {
      ...{ choices, range, total: whole.data?.data[0] },
      ...{ sums: totals.data?.data, sumsOfSteps: steps.data?.data },
    },
    [totals, steps, whole],
  )
  const { current, step, runningFromMs } = shown.range
  // The same figures in another way: nothing is asked for these.
  const { sort, isAscending } = choices
  const shownChoices = { ...shown.choices, show, sort, isAscending }
  const name = useGroupNames(shownChoices.by)
  const largest = listLargest(shown.sums ?? [], DRAWN[show])
  const paint = useGroupPaints(shownChoices.by, largest)
  const failed = [totals, steps].find((query) => query.isError && query.data === undefined)
  const label = GROUPS.find(([group]) => group === shownChoices.by)?.[1] ?? ''
  if (failed !== undefined)
    return (
      <Card>
        <SumsError error={failed.error} retry={() => void failed.refetch()} />
      </Card>
    )
  const { sums: rows, sumsOfSteps } = shown
  const zoneOfFile = shown.range.hasUtcDays ? 'utc' : zone
  return (
    <>
      <Card>
        <CardHeader title={`${DRAWN[show].label} by ${label.toLowerCase()}`}>
          <DrawnSelect show={show} onChange={(next) => onChange({ show: next })} />
        </CardHeader>
        {rows === undefined || sumsOfSteps === undefined ? (
          <Skeleton className="m-5 h-[300px]" />
        ) : rows.length === 0 ? (
          <EmptyState icon={<ChartColumnStacked />} title="No calls in this range">
            Choose a longer range, or take filters away.
          </EmptyState>
        ) : (
          <ChartPanel
            label={`${DRAWN[show].label} by ${label.toLowerCase()} over time`}
            data={toStackedData(
              { period: current, step, runningFromMs },
              { sums: sumsOfSteps, largest, measure: DRAWN[show], name, paint },
            )}
            addressOf={(startMs, key) =>
              toLogAddress({
                period: periodOfStep(shown.range, startMs),
                filters: toLogFilters(shownChoices, groupOfSeries(key, largest)),
              })
            }
            note={describeUtcDays(shown.range, zone)}
          />
        )}
      </Card>
      <Card>
        <CardHeader title="Figures">
          <Button
            size="small"
            disabled={rows === undefined || rows.length === 0}
            onClick={() =>
              downloadText(
                toTableCsv(sortSums(rows ?? [], sort, isAscending), shownChoices.by, name),
                `gatehouse-${shownChoices.by}-${toDay(current.fromMs, zoneOfFile)}-${toDay(current.toMs - 1, zoneOfFile)}.csv`,
              )
            }
          >
            <Download aria-hidden className="size-3.5" />
            CSV
          </Button>
        </CardHeader>
        {rows === undefined ? (
          <RowSkeletons />
        ) : (
          <SumsTable
            sums={rows}
            total={shown.total}
            choices={shownChoices}
            groupLabel={label}
            name={name}
            onSort={(sort, isAscending) => onChange({ sort, isAscending })}
          />
        )}
      </Card>
    </>
  )
}

function DrawnSelect({
  show,
  onChange,
}: {
  readonly show: DrawnName
  readonly onChange: (show: DrawnName) => void
}) {
  const names = Object.keys(DRAWN) as DrawnName[]
  return (
    <select
      aria-label="Which figure"
      value={show}
      onChange={(event) => onChange(names.find((name) => name === event.target.value) ?? 'calls')}
      className={`${CONTROL_CLASS} h-8 !text-[13px]`}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {DRAWN[name].label}
        </option>
      ))}
    </select>
  )
}

// Hands the table over as a file, made in the browser from what is already there.

/** The group's id stands beside its name: names of keys may be the same. */
function toTableCsv(sums: readonly Sum[], by: string, name: NameGroup): string {
  return toCsv([
    [by, `${by}_id`, ...CSV_COLUMNS.map(({ csvLabel }) => csvLabel)],
    ...sums.map((sum) => [name(sum), sum.group, ...CSV_COLUMNS.map(({ read }) => read(sum))]),
  ])
}

function downloadText(text: string, fileName: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  URL.revokeObjectURL(address)
}

// Gates, targets and keys are painted as everywhere in this browser; classes of status and
// credentials by what they mean.

/** Each has a colour and a pattern that no other of its kind has. */
const FIXED: Readonly<Record<string, Paint>> = {
  '2xx': paintAt(0),
  '3xx': paintAt(5),
  '4xx': paintAt(2),
  '5xx': paintAt(3),
  own: paintAt(0),
  platform: paintAt(1),
}

function useGroupPaints(
  by: GroupName,
  groups: readonly (string | null)[],
): (group: string | null) => Paint {
  const isFixed = by === 'status' || by === 'credential'
  const named = groups.filter((group) => group !== null)
  const paints = usePaints(by, isFixed ? [] : named)
  return (group) =>
    (group === null ? undefined : isFixed ? FIXED[group] : paints.get(group)) ?? NOTHING_PAINT
}

import { useMutation, useQuery } from '@tanstack/react-query'
import { ChartColumnStacked, Download } from 'lucide-react'
import { useState } from 'react'
import { toUsageCsv } from '../../../src/contract/csv.ts'
import { askAllGroups } from '../../api/all-groups.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { toLogAddress } from '../../format/calls-behind.ts'
import { describeUtcDays, periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import { toDay } from '../../format/time-zone.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { NOTHING_PAINT, type Paint, paintAt } from '../../ui/charts/palette.ts'
import { groupOfSeries, listLargest, toStackedData } from '../../ui/charts/stacked-data.ts'
import { usePaints } from '../../ui/charts/use-paints.ts'
import { downloadText } from '../../ui/download-text.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { describeError, EmptyState, RowSkeletons, Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { toast } from '../../ui/toast.ts'
import { UnpricedCalls } from '../../ui/unpriced-notice.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import {
  type Choices,
  DRAWN,
  type DrawnName,
  GROUPS,
  type GroupName,
  orderOf,
  toLogFilters,
  toPair,
} from './choices.ts'
import { type Sum, sortSums, toGroupNames, toPairNames } from './columns.ts'
import { SumsTable } from './sums-table.tsx'

const GROUPS_AT_FIRST = 50
const MOST_GROUPS = 1_000

export function BreakdownCard({
  choices,
  range,
  onChange,
}: {
  readonly choices: Choices
  readonly range: ResolvedRange
  readonly onChange: (change: Partial<Choices>) => void
}) {
  const { by, thenBy, find, show } = choices
  const zone = useTimeZone()
  const asked = {
    from: new Date(range.current.fromMs).toISOString(),
    to: new Date(range.current.toMs).toISOString(),
    ...choices.filters,
  }
  const [limit, setLimit] = useState(GROUPS_AT_FIRST)
  const order = orderOf(choices)
  const ofGroups = { ...asked, interval: 'all', group_by: by, then_by: thenBy } as const
  // Sessions and found groups are sums over the whole range only.
  const hasSteps = by !== 'session' && thenBy !== 'session' && find === undefined
  // The chart shows the top groups by its measure, whatever the table's order.
  const steps = useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: {
        ...ofGroups,
        interval: range.step,
        order: show,
        totals: true,
        percentiles: 'totals',
      },
    }),
    enabled: hasSteps,
  })
  const hasOwnTable = !hasSteps || order !== show || limit > GROUPS_AT_FIRST
  const table = useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: { ...ofGroups, search: find, order, limit, totals: !hasSteps && find === undefined },
    }),
    enabled: hasOwnTable,
  })
  const total = (hasSteps ? steps : table).data?.total ?? undefined
  const nextCursor = (hasOwnTable ? table : steps).data?.nextCursor
  const shown = useSettled(
    {
      ...{ choices, range, total, hasMore: nextCursor != null },
      sums: hasOwnTable ? table.data?.data : steps.data?.groupTotals,
      ...{ drawnSums: steps.data?.groupTotals, sumsOfSteps: steps.data?.data },
    },
    [...(hasSteps ? [steps] : []), ...(hasOwnTable ? [table] : [])],
  )
  const { current, step, runningFromMs } = shown.range
  // A different view of the same figures needs no request.
  const { sort, isAscending } = choices
  const shownChoices = { ...shown.choices, show, sort, isAscending }
  const named = [...(shown.sums ?? []), ...(shown.drawnSums ?? [])]
  const { by: shownBy, thenBy: shownThen } = shownChoices
  const name =
    shownThen === undefined
      ? toGroupNames(shownBy, named)
      : toPairNames([shownBy, shownThen], named)
  const toRows = (sums: readonly Sum[] | undefined) =>
    shownThen === undefined
      ? sums
      : sums?.map((sum) => ({ ...sum, group: sum.isRest ? null : toPair(sum) }))
  const largest = listLargest(toRows(shown.drawnSums) ?? [], DRAWN[show])
  const paint = useGroupPaints(shownThen === undefined ? shownBy : 'pair', largest)
  const download = useMutation({
    mutationFn: () => askAllGroups({ ...ofGroups, search: find, order }),
    onSuccess: (sums) => {
      const zoneOfFile = range.hasUtcDays ? 'utc' : zone
      const days = [range.current.fromMs, range.current.toMs - 1]
      const nameOf = toGroupNames(by, sums)
      const nameOfSecond = toGroupNames(
        thenBy ?? by,
        sums.map(({ thenGroup, thenName }) => ({ group: thenGroup, name: thenName })),
      )
      downloadText(
        toUsageCsv(
          sortSums(sums, choices, nameOf),
          { by, nameOf },
          thenBy && {
            by: thenBy,
            nameOf: ({ thenGroup, isRest }) => nameOfSecond({ group: thenGroup, isRest }),
          },
        ),
        `gatehouse-${by}-${days.map((ms) => toDay(ms, zoneOfFile)).join('-')}.csv`,
      )
    },
    onError: (error) => toast('error', describeError(error)),
  })
  const failed = [table, steps].find((query) => query.isError && query.data === undefined)
  const labelOf = (of: GroupName) => GROUPS.find(([group]) => group === of)?.[1] ?? ''
  const label =
    shownThen === undefined
      ? labelOf(shownBy)
      : `${labelOf(shownBy)} and ${labelOf(shownThen).toLowerCase()}`
  if (failed !== undefined)
    return (
      <Card>
        <SumsError error={failed.error} retry={() => void failed.refetch()} />
      </Card>
    )
  const tagsNote =
    shownBy === 'tag' || shownThen === 'tag'
      ? 'A call with several tags counts for each of them, so the sum of the rows may exceed the total.'
      : undefined
  const [rows, sumsOfSteps] = [toRows(shown.sums), toRows(shown.sumsOfSteps)]
  return (
    <>
      {shown.total !== undefined && shown.total.cost.unpricedCalls > 0 && (
        <UnpricedCalls gate={shownChoices.filters.gate} />
      )}
      {shownBy !== 'session' && shownThen !== 'session' && shownChoices.find === undefined && (
        <Card>
          <CardHeader title={`${DRAWN[show].label} by ${label.toLowerCase()}`}>
            <DrawnSelect
              show={show}
              onChange={(next) => onChange({ show: next, sort: next, isAscending: false })}
            />
          </CardHeader>
          {rows === undefined || sumsOfSteps === undefined ? (
            <Skeleton className="m-5 h-[300px]" />
          ) : rows.length === 0 ? (
            <EmptyState icon={<ChartColumnStacked />} title="No calls in this range">
              Choose a longer range, or remove filters.
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
      )}
      <Card>
        <CardHeader title="Figures" note={tagsNote}>
          <Button
            size="small"
            isBusy={download.isPending}
            disabled={rows === undefined || rows.length === 0}
            onClick={() => download.mutate()}
          >
            <Download aria-hidden className="size-3.5" />
            CSV
          </Button>
        </CardHeader>
        {rows === undefined ? (
          <RowSkeletons />
        ) : rows.length === 0 && shownChoices.find !== undefined ? (
          <EmptyState title="No name matches">Every typed word must be in the name.</EmptyState>
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
        {shown.hasMore && limit < MOST_GROUPS && (
          <div className="flex justify-center border-t border-line p-3">
            <Button
              size="small"
              look="quiet"
              isBusy={table.isFetching}
              onClick={() => setLimit(MOST_GROUPS)}
            >
              Show more
            </Button>
          </div>
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

// Gates, targets and keys have the same colours everywhere in this browser; status classes and
// credentials have fixed colours.

const FIXED: Readonly<Record<string, Paint>> = {
  '2xx': paintAt(0),
  '3xx': paintAt(5),
  '4xx': paintAt(2),
  '5xx': paintAt(3),
  own: paintAt(0),
  platform: paintAt(1),
}

function useGroupPaints(
  by: GroupName | 'pair',
  groups: readonly (string | null)[],
): (group: string | null) => Paint {
  const isFixed = by === 'status' || by === 'credential'
  const named = groups.filter((group) => group !== null)
  const paints = usePaints(by, isFixed ? [] : named)
  return (group) =>
    (group === null ? undefined : isFixed ? FIXED[group] : paints.get(group)) ?? NOTHING_PAINT
}

/** Spend over time, stacked by target, gate, key or person. */
import { useState } from 'react'
import { toLogAddress } from '../../format/calls-behind.ts'
import { type NamedGroupBy, nameOfGroup } from '../../format/group-name.ts'
import { periodOfStep, type ResolvedRange } from '../../format/time-range.ts'
import { COST } from '../../format/usage-measures.ts'
import { ChartPanel } from '../../ui/charts/chart-panel.tsx'
import { NOTHING_PAINT } from '../../ui/charts/palette.ts'
import { groupOfSeries, listLargest, toStackedData } from '../../ui/charts/stacked-data.ts'
import { usePaints } from '../../ui/charts/use-paints.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { useHasPeople, useSums } from './use-overview.ts'

const BY: readonly (readonly [NamedGroupBy, string])[] = [
  ['target', 'By model'],
  ['gate', 'By gate'],
  ['key', 'By key'],
  ['user', 'By person'],
]

const NOTHING_NAME: Readonly<Partial<Record<NamedGroupBy, string>>> = { user: 'No person is known' }

export function SpendChart({
  range,
  everyMs,
  note,
}: {
  readonly range: ResolvedRange
  readonly everyMs: number | false
  readonly note: string
}) {
  const [by, setBy] = useState<NamedGroupBy>('target')
  const hasPeople = useHasPeople(range.current, everyMs)
  // The tiles have the percentiles of the same request.
  const percentiles = by === 'target' && 'totals'
  const options = { everyMs, groupBy: by, order: 'cost', percentiles } as const
  const sums = useSums(range.current, range.step, options)
  const { groupTotals: totals, data: steps } = sums.data ?? {}
  const shown = useSettled({ range, by, totals, steps }, [sums])
  const largest = listLargest(shown.totals ?? [], COST)
  const paints = usePaints(
    shown.by,
    largest.filter((group) => group !== null),
  )
  if (sums.isError && sums.data === undefined)
    return <SumsError error={sums.error} retry={() => void sums.refetch()} />
  const names = new Map((shown.totals ?? []).map((sum) => [sum.group, nameOfGroup(sum, shown.by)]))
  const { current, step, runningFromMs } = shown.range
  return (
    <>
      <div className="flex justify-end px-4 pt-3">
        <select
          aria-label="Spend by"
          value={by}
          onChange={(event) =>
            setBy(BY.find(([name]) => name === event.target.value)?.[0] ?? 'target')
          }
          className={`${CONTROL_CLASS} h-8 !w-auto !text-[13px]`}
        >
          {BY.filter(([name]) => name !== 'user' || hasPeople).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {shown.steps === undefined ? (
        <Skeleton className="m-5 h-[300px]" />
      ) : (
        <ChartPanel
          label="Spend over time"
          data={toStackedData(
            { period: current, step, runningFromMs },
            {
              sums: shown.steps,
              largest,
              measure: COST,
              name: ({ group, isRest }) =>
                isRest
                  ? 'All others'
                  : names.get(group) || NOTHING_NAME[shown.by] || 'No model was asked',
              paint: (group) => (group === null ? undefined : paints.get(group)) ?? NOTHING_PAINT,
            },
          )}
          addressOf={(startMs, key) =>
            toLogAddress({
              period: periodOfStep(shown.range, startMs),
              filters: { [shown.by]: groupOfSeries(key, largest) ?? undefined },
            })
          }
          note={note}
        />
      )}
    </>
  )
}

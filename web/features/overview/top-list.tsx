import { Link } from '@tanstack/react-router'
import { ScrollText } from 'lucide-react'
import type { AnswerOf } from '../../api/ask.ts'
import { formatShare } from '../../format/figures.ts'
import type { NamedGroupBy } from '../../format/group-name.ts'
import { nameOfGroup } from '../../format/group-name.ts'
import type { RangeChoice, ResolvedRange } from '../../format/time-range.ts'
import { CALLS, COST, ERRORS, type Measure, TOKENS } from '../../format/usage-measures.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PaintSample } from '../../ui/charts/paint-pattern.tsx'
import { NOTHING_PAINT, type Paint } from '../../ui/charts/palette.ts'
import { usePaints } from '../../ui/charts/use-paints.ts'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { type Order, useSpend, useTotals } from './use-overview.ts'

type Sum = AnswerOf<'GET /v1/analytics'>['data'][number]

const SHOWN = 5
// Plain strings, because these pages belong to other features.
const ANALYTICS: string = '/analytics'
const LOGS: string = '/logs'
const PEOPLE: string = '/people'

export function TopList({
  title,
  groupBy,
  range,
  choice,
  everyMs,
  metric,
}: {
  readonly title: string
  readonly groupBy: NamedGroupBy
  readonly range: ResolvedRange
  readonly choice: RangeChoice
  readonly everyMs: number | false
  readonly metric: string
}) {
  const [order, measure] = RANKED_BY.find(([id]) => id === metric) ?? BY_CALLS
  // The tiles and the chart of spend need the same sums, so one request is enough.
  const isSpend = groupBy === 'target' && order === 'cost'
  const spend = useSpend(range, everyMs)
  const own = useTotals(isSpend ? undefined : range.current, 'all', { groupBy, everyMs, order })
  const { query, groups = [] } = isSpend ? spend : own
  const top = listTop(groups, measure)
  const paints = usePaints(
    groupBy,
    top.map(({ group }) => group ?? ''),
  )
  return (
    <Card className="flex min-w-0 flex-col">
      <CardHeader title={title}>
        <Link
          to={groupBy === 'user' ? PEOPLE : ANALYTICS}
          search={groupBy === 'user' ? { ...choice } : { ...choice, by: groupBy }}
          className="rounded-sm text-[13px] text-ink-faint hover:text-ink"
        >
          All
        </Link>
      </CardHeader>
      <QueryBoundary query={query}>
        {() => {
          const total = groups.reduce((whole, sum) => whole + (measure.read(sum) ?? 0), 0)
          if (top.length === 0)
            return (
              <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
                No {measure === ERRORS ? 'failed calls' : 'calls'} in this range
              </p>
            )
          return (
            <ol aria-label={title} className="flex flex-col py-1.5">
              {top.map((sum) => (
                <Row
                  key={sum.group}
                  sum={sum}
                  total={total}
                  measure={measure}
                  name={nameOfGroup(sum, groupBy)}
                  paint={paints.get(sum.group ?? '') ?? NOTHING_PAINT}
                  address={
                    groupBy === 'user'
                      ? `${PEOPLE}/${encodeURIComponent(sum.group ?? '')}`
                      : ANALYTICS
                  }
                  search={{
                    ...choice,
                    [groupBy]: sum.group ?? '',
                    by: groupBy === 'gate' ? 'target' : 'gate',
                  }}
                />
              ))}
            </ol>
          )
        }}
      </QueryBoundary>
    </Card>
  )
}

/** Latencies do not rank, because the slowest group may have a single call. */
const BY_CALLS = ['calls', CALLS] as const
const RANKED_BY = [
  BY_CALLS,
  ['tokens', TOKENS],
  ['cost', COST],
  ['errors', ERRORS],
] as const satisfies readonly (readonly [Order, Measure])[]

function listTop(sums: readonly Sum[], measure: Measure): readonly Sum[] {
  return sums
    .filter((sum) => sum.group !== null && (measure !== ERRORS || (measure.read(sum) ?? 0) > 0))
    .toSorted((left, right) => (measure.read(right) ?? 0) - (measure.read(left) ?? 0))
    .slice(0, SHOWN)
}

function Row({
  sum,
  total,
  measure,
  name,
  paint,
  address,
  search,
}: {
  readonly sum: Sum
  readonly total: number
  readonly measure: Measure
  readonly name: string
  readonly paint: Paint
  readonly address: string
  readonly search: Readonly<Record<string, string>>
}) {
  const value = measure.read(sum) ?? 0
  const share = total === 0 ? 0 : value / total
  const beside = measure === CALLS ? COST : CALLS
  const { range: _range, from: _from, to: _to, by: _by, ...filter } = search
  return (
    <li className="group relative flex items-center gap-2 px-5 py-1.5">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline justify-between gap-3">
          <Link
            to={address}
            search={search}
            title={name}
            className="truncate rounded-sm text-[13px] font-medium text-ink hover:underline"
          >
            {name}
          </Link>
          <span className="shrink-0 text-[13px] tabular-nums text-ink-soft">
            {measure.format(value)}
            <span className="sr-only"> {measure.unit}, </span>
            <span className="ml-2 inline-block min-w-12 text-right text-xs text-ink-faint">
              {beside.format(beside.read(sum))}
              {beside === CALLS && (sum.calls === 1 ? ' call' : ' calls')}
            </span>
          </span>
        </div>
        <div
          aria-hidden
          className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-sunken"
          title={formatShare(share)}
        >
          <div style={{ width: `${Math.max(share * 100, 1)}%` }}>
            <PaintSample paint={paint} className="h-1.5 w-full" />
          </div>
        </div>
      </div>
      <Link
        to={LOGS}
        search={filter}
        aria-label={`Calls of ${name} in the logs`}
        title="Open in the logs"
        className="rounded-md p-1 text-ink-faint hover:bg-sunken hover:text-ink"
      >
        <ScrollText aria-hidden className="size-3.5" />
      </Link>
    </li>
  )
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import type { NamedGroupBy } from '../../format/group-name.ts'
import type { Period, ResolvedRange } from '../../format/time-range.ts'

export type Order = 'calls' | 'tokens' | 'cost' | 'errors'
type Interval = ResolvedRange['step'] | 'all'

/** Steps come with totals. Percentiles are slow to read, so few sums have them. */
export function useSums(
  period: Period | undefined,
  interval: Interval,
  options: {
    readonly everyMs: number | false
    readonly groupBy?: NamedGroupBy
    readonly order?: Order
    readonly percentiles?: boolean | 'totals'
  },
) {
  return useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: {
        from: new Date(period?.fromMs ?? 0).toISOString(),
        to: new Date(period?.toMs ?? 0).toISOString(),
        interval,
        group_by: options.groupBy,
        order: options.order,
        percentiles: options.percentiles ?? false,
        ...((interval !== 'all' || options.percentiles === 'totals') && { totals: true }),
      },
    }),
    enabled: period !== undefined,
    refetchInterval: options.everyMs,
    // The previous range's figures stay until the new figures arrive, so that nothing jumps.
    placeholderData: period === undefined ? undefined : keepPreviousData,
  })
}

/** Totals come with the steps, or alone where the hours of the range are deleted. */
export function useTotals(
  period: Period | undefined,
  interval: Interval,
  options: Parameters<typeof useSums>[2],
) {
  const steps = useSums(period, interval, options)
  const areStepsGone = steps.isError && steps.data === undefined
  const whole = useSums(areStepsGone ? period : undefined, 'all', options)
  const query = areStepsGone ? whole : steps
  const { data: sums, groupTotals = [], total } = query.data ?? {}
  return { query, total, groups: groupTotals.length > 0 ? groupTotals : sums }
}

/** Whether a call of the period has a known user, and the reader sees figures of all people. */
export function useHasPeople(period: Period, everyMs: number | false): boolean {
  const people = useSums(period, 'all', { everyMs, groupBy: 'user', order: 'cost' })
  const { data, onlyUser } = people.data ?? {}
  return onlyUser === null && data?.some(({ group }) => group !== null) === true
}

/** For the tiles, the chart of spend and the top models, which share one request. */
export function useSpend({ current, step }: ResolvedRange, everyMs: number | false) {
  const ofTargets = { groupBy: 'target', order: 'cost', percentiles: 'totals' } as const
  return useTotals(current, step, { everyMs, ...ofTargets })
}

/**
 * Asks for the figures of the overview: sums of a range and of the one before, over time and as a
 * whole, and who used most.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import type { NamedGroupBy } from '../../format/group-name.ts'
import type { Period, ResolvedRange } from '../../format/time-range.ts'

/** The measure that ranks groups. */
export type Order = 'calls' | 'tokens' | 'cost' | 'errors'
type Interval = ResolvedRange['step'] | 'all'

export function useSums(
  /** Undefined: nothing is asked. */
  period: Period | undefined,
  interval: Interval,
  options: {
    readonly everyMs: number | false
    readonly groupBy?: NamedGroupBy
    readonly order?: Order
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
      },
    }),
    enabled: period !== undefined,
    refetchInterval: options.everyMs,
    // The figures of the range before stay until the new ones are there: nothing jumps.
    placeholderData: period === undefined ? undefined : keepPreviousData,
  })
}

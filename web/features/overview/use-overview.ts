/** What the overview asks for: sums of a range and of the one before, over time and as a whole, and who used most. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import type { Period, ResolvedRange } from '../../format/time-range.ts'

type Group = 'gate' | 'target' | 'key'
type Interval = ResolvedRange['step'] | 'all'

export function useSums(
  period: Period,
  interval: Interval,
  options: { readonly everyMs: number | false; readonly groupBy?: Group },
) {
  return useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: {
        from: new Date(period.fromMs).toISOString(),
        to: new Date(period.toMs).toISOString(),
        interval,
        group_by: options.groupBy,
      },
    }),
    refetchInterval: options.everyMs,
    // The figures of the range before stay until the new ones are there: nothing jumps.
    placeholderData: keepPreviousData,
  })
}

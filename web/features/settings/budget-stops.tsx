/** The sessions and users that the fuses of budgets stopped. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { FusedStops } from '../../ui/fused-stops.tsx'

const AGAIN_AFTER_MS = 15_000

export function BudgetStops() {
  const counts = useQuery({
    ...operationQuery('GET /v1/fuse-stops'),
    refetchInterval: AGAIN_AFTER_MS,
    staleTime: 0,
  })
  return counts.data?.data.map(
    ({ budgetId, name }) =>
      budgetId !== null && (
        <FusedStops
          key={budgetId}
          owner={{ type: 'budget', id: budgetId }}
          title={`Stopped by the fuse of “${name}”`}
          note="Calls of these sessions and users that the budget counts are refused until the stop is lifted."
        />
      ),
  )
}

import { useQuery } from '@tanstack/react-query'
import { operationQuery, wholeListQuery } from '../api/operation-query.ts'
import { type Exhausted, findExhausted, type LimitScope } from '../format/exhausted.ts'

export function useExhausted(
  scope: LimitScope,
  everyMs: number | false = false,
): readonly Exhausted[] {
  const budgets = useQuery({
    ...wholeListQuery('GET /v1/budgets'),
    refetchInterval: everyMs,
    // Other parts of the dashboard may have read the list before the budget was used up.
    staleTime: 0,
  })
  const account = useQuery({ ...operationQuery('GET /v1/account'), refetchInterval: everyMs })
  return findExhausted({ budgets: budgets.data ?? [], quota: account.data?.quota }, scope)
}

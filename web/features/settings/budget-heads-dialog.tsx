/** Who has used how much of a budget for each user or key. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Budget, toUse } from '../../ui/budget-use.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Meter } from '../../ui/meter.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'

export function BudgetHeadsDialog({ row: budget, onClose }: RowDialogProps<Budget>) {
  const heads = useQuery(
    operationQuery('GET /v1/budgets/{id}/heads', {
      path: { id: budget.id },
      query: { limit: 200 },
    }),
  )
  const { limit, format } = toUse(budget)
  const rows = heads.data?.data ?? []
  return (
    <Dialog isOpen onClose={onClose} title={`Use of “${budget.name}”`}>
      {heads.error !== null && <p role="alert">{heads.error.message}</p>}
      {heads.isSuccess && rows.length === 0 && <p>There are no calls in this period.</p>}
      <ul className="flex max-h-[60vh] flex-col gap-3 overflow-y-auto" aria-label="Use of each">
        {rows.map(({ id, name, used, share, budgetId }) => {
          const amount = budget.limitTokens === null ? used.usd : used.tokens
          return (
            <li key={id} className="flex flex-col gap-1">
              <p className="flex justify-between gap-3 text-[13px] tabular-nums">
                <bdi className="wrap-anywhere text-ink">{name ?? id}</bdi>
                <span className="text-ink-soft">
                  {format(amount)}{' '}
                  {budgetId !== null ? (
                    <Badge>Own budget</Badge>
                  ) : (
                    share >= 1 && <Badge tone="danger">Exhausted</Badge>
                  )}
                </span>
              </p>
              {budgetId === null && (
                <Meter label={`Used by ${name ?? id}`} used={amount} reserved={0} limit={limit} />
              )}
            </li>
          )
        })}
      </ul>
      {heads.data?.nextCursor != null && (
        <p className="mt-3 text-xs text-ink-faint">The 200 with the greatest use are shown.</p>
      )}
    </Dialog>
  )
}

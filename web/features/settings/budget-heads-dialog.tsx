/** The use of a budget for each user or key. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { nameOfGroup } from '../../format/group-name.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Budget, PERIOD_WORDS, toUse } from '../../ui/budget-use.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Meter } from '../../ui/meter.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'

export function BudgetHeadsDialog({ row: budget, onClose }: RowDialogProps<Budget>) {
  const heads = useQuery(
    operationQuery('GET /v1/budgets/{id}/heads', {
      path: { id: budget.id },
      query: { limit: 200 },
    }),
  )
  const { limit, format, formatLimit } = toUse(budget)
  const kind = budget.scope === 'each-user' ? 'user' : 'key'
  const rows = heads.data?.data ?? []
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Use of “${budget.name}”`}
      note={`Each ${kind} may use ${formatLimit(limit)} ${PERIOD_WORDS[budget.period]}.`}
    >
      {heads.error !== null && <p role="alert">{heads.error.message}</p>}
      {heads.isSuccess && rows.length === 0 && <p>There are no calls in this period.</p>}
      <ul className="flex max-h-[60vh] flex-col gap-3 overflow-y-auto" aria-label="Use of each">
        {rows.map(({ id, name: known, used, share, budgetId }) => {
          const name = nameOfGroup({ group: id, name: known }, kind)
          const amount = budget.limitTokens === null ? used.usd : used.tokens
          return (
            <li key={id} className="flex flex-col gap-1">
              <p className="flex justify-between gap-3 text-[13px] tabular-nums">
                <PageLink
                  to={`/${kind === 'user' ? 'people' : 'keys'}/${encodeURIComponent(id)}`}
                  className="wrap-anywhere"
                >
                  <bdi>{name}</bdi>
                </PageLink>
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
                <Meter label={`Used by ${name}`} used={amount} reserved={0} limit={limit} />
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

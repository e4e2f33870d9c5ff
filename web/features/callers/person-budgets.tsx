/** The budgets that limit one person: their own, and those of each user. */
import { useQuery } from '@tanstack/react-query'
import { type AnswerOf, askWith } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import type { Budget } from '../../ui/budget-use.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { RowSkeletons } from '../../ui/states.tsx'
import { UsedOfBudget } from '../../ui/used-of-budget.tsx'

/** @param props.name as calls name the person; budgets of end users have no id of the person */
export function PersonBudgets({ user, name }: { readonly user: string; readonly name: string }) {
  const budgets = useQuery({
    ...wholeListQuery('GET /v1/budgets'),
    // Other pages may have read the list before the person's latest calls.
    staleTime: 0,
    select: (all) => all.filter(({ scope }) => scope === 'user' || scope === 'each-user'),
  })
  const defaults = (budgets.data ?? []).filter(({ scope }) => scope === 'each-user')
  const ids = defaults.map(({ id }) => id)
  const heads = useQuery({
    queryKey: ['GET /v1/budgets/{id}/heads', 'of', user, ids],
    queryFn: ({ signal }) => Promise.all(ids.map((id) => findHead(id, user, signal))),
    enabled: budgets.isSuccess,
    staleTime: 0,
  })
  return (
    <Card className="min-w-0">
      <CardHeader title="Budgets">
        <PageLink to="/settings/budgets" className="text-[13px]">
          All budgets
        </PageLink>
      </CardHeader>
      <QueryBoundary query={budgets} loading={<RowSkeletons count={1} />}>
        {(all) => (
          <QueryBoundary query={heads} loading={<RowSkeletons count={1} />}>
            {(found) => {
              const own = all.filter(
                ({ scope, member, endUser }) =>
                  scope === 'user' && (member === user || (endUser !== null && endUser === name)),
              )
              const shared = defaults
                .filter((budget) => !own.some((each) => replaces(each, budget)))
                .flatMap((budget) => toShown(budget, found[ids.indexOf(budget.id)]))
              return <BudgetList budgets={[...own, ...shared]} />
            }}
          </QueryBoundary>
        )}
      </QueryBoundary>
    </Card>
  )
}

function BudgetList({ budgets }: { readonly budgets: readonly Budget[] }) {
  if (budgets.length === 0)
    return (
      <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
        No budget limits this person alone
      </p>
    )
  return (
    <ul aria-label="Budgets" className="grid gap-x-10 px-5 py-2 xl:grid-cols-2">
      {budgets.map((budget) => (
        <li key={budget.id} className="flex flex-col gap-1.5 py-3">
          <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-[13px]">
            <span className="min-w-0 wrap-anywhere">
              <bdi className="mr-2 font-medium text-ink">{budget.name}</bdi>
              {budget.isExhausted === true && <Badge tone="danger">Exhausted</Badge>}
            </span>
            <span className="text-xs text-ink-faint">
              {budget.resetsAt === null ? (
                'never starts again'
              ) : (
                <>
                  starts again <Moment at={budget.resetsAt} />
                </>
              )}
            </span>
          </p>
          <UsedOfBudget budget={budget} />
        </li>
      ))}
    </ul>
  )
}

type Head = AnswerOf<'GET /v1/budgets/{id}/heads'>['data'][number]

/** Whether a person's own budget limits the same period in the same unit as a default. */
function replaces(own: Budget, { period, limitUsd }: Budget): boolean {
  return own.period === period && (own.limitUsd === null) === (limitUsd === null)
}

/** The budget of each user with the figures of one; none where their own budget replaces it. */
function toShown(budget: Budget, head: Head | undefined): readonly Budget[] {
  if (head === undefined) return [{ ...budget, used: { tokens: 0, usd: 0, unpricedCalls: 0 } }]
  if (head.budgetId !== null) return []
  return [{ ...budget, used: head.used, isExhausted: head.share >= 1 }]
}

/** @returns undefined: the person has made no call in this period */
async function findHead(id: string, user: string, signal: AbortSignal): Promise<Head | undefined> {
  const { data } = await askWith(
    'GET /v1/budgets/{id}/heads',
    { signal },
    { path: { id }, query: { user } },
  )
  return data[0]
}

/** Users and keys that are over their limit of a budget for each user or key. */
import { useQuery } from '@tanstack/react-query'
import { type AnswerOf, askWith, type RowOf } from '../../api/ask.ts'
import { nameOfGroup } from '../../format/group-name.ts'

export type DefaultBudget = Pick<RowOf<'GET /v1/budgets'>, 'id' | 'name' | 'scope' | 'atLimit'>

export interface ExhaustedHeads {
  readonly id: string
  readonly name: string
  /** A name, or a count: `2 users`. */
  readonly who: string
  readonly isSteering: boolean
}

const AGAIN_AFTER_MS = 60_000
const AT_ONCE = 200

/** @param isLive whether the heads are read again after a while */
export function useExhaustedHeads(
  budgets: readonly DefaultBudget[],
  isLive: boolean,
): readonly ExhaustedHeads[] {
  const heads = useQuery({
    queryKey: ['GET /v1/budgets/{id}/heads', 'over', budgets.map(({ id }) => id)],
    queryFn: ({ signal }) =>
      Promise.all(
        budgets.map(({ id }) =>
          askWith(
            'GET /v1/budgets/{id}/heads',
            { signal },
            { path: { id }, query: { limit: AT_ONCE } },
          ),
        ),
      ),
    enabled: budgets.length > 0,
    staleTime: AGAIN_AFTER_MS,
    refetchInterval: isLive && AGAIN_AFTER_MS,
  })
  return budgets.flatMap((budget, index) => toExhausted(budget, heads.data?.[index]) ?? [])
}

/** The greatest use comes first, so one page is enough to count up to its length. */
export function toExhausted(
  { id, name, scope, atLimit }: DefaultBudget,
  page: AnswerOf<'GET /v1/budgets/{id}/heads'> | undefined,
): ExhaustedHeads | undefined {
  const all = page?.data ?? []
  // A head with a budget of its own is not limited by this budget.
  const over = all.filter(({ share, budgetId }) => share >= 1 && budgetId === null)
  const [first] = over
  if (first === undefined) return undefined
  const kind = scope === 'each-user' ? 'user' : 'key'
  const isMore = page?.nextCursor != null && (all.at(-1)?.share ?? 0) >= 1
  const who =
    over.length === 1 && !isMore
      ? nameOfGroup({ group: first.id, name: first.name }, kind)
      : `${isMore ? 'more than ' : ''}${over.length} ${kind}s`
  return { id, name, who, isSteering: atLimit !== 'refuse' }
}

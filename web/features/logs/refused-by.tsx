/** The limit that refused a call: a budget by its name, other limits in words. */
import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import { PageLink } from '../../ui/links.tsx'
import { Fact } from './fact.tsx'
import type { Log } from './log-filter.ts'

const LIMITS: Readonly<Record<string, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrent_calls: 'concurrent calls',
  monthly_tokens: 'the monthly quota of tokens',
  monthly_spend: 'the monthly quota of spend',
}
const BUDGET_ID = /^bud_/

/** Undefined: no limit refused the call, or an earlier gateway does not say. */
function useLimitName({ refusedBy }: Log): string | undefined {
  const isBudget = refusedBy != null && BUDGET_ID.test(refusedBy)
  const budgets = useQuery({ ...wholeListQuery('GET /v1/budgets'), enabled: isBudget })
  if (refusedBy == null) return undefined
  if (!isBudget) return LIMITS[refusedBy] ?? refusedBy
  const name = budgets.data?.find(({ id }) => id === refusedBy)?.name
  if (name !== undefined) return `budget “${name}”`
  return budgets.isPending ? 'a budget' : `budget ${refusedBy} (deleted)`
}

/** In place of a target, of which a refused call has none. */
export function RefusedBy({ log, without }: { readonly log: Log; readonly without: string }) {
  const name = useLimitName(log)
  return (
    <span title={name ?? without} className="truncate text-ink-soft">
      {name === undefined ? without : `by ${name}`}
    </span>
  )
}

export function RefusedByFact({ log }: { readonly log: Log }) {
  const name = useLimitName(log)
  if (name === undefined) return null
  const page = BUDGET_ID.test(log.refusedBy ?? '') ? '/settings/budgets' : '/settings/limits'
  return (
    <Fact name="Refused by">
      <PageLink to={page}>{name}</PageLink>
    </Fact>
  )
}

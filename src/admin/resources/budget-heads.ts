/** `/v1/budgets/{id}/heads`: the use of a default budget by each head, from the ledger. */
import { createRoute, z } from '@hono/zod-openapi'
import {
  type budgetHeadBody,
  budgetHeadList,
  budgetHeadQuery,
} from '../../contract/budget-heads.ts'
import { amountOf, type Budget, ceilingOf, toLedgerScope } from '../../core/budget.ts'
import type { KeyId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import { hourOf, spanOf } from '../../core/period.ts'
import { DAY_MS, startOfDay } from '../../core/time-zone.ts'
import type { UsageQuery } from '../../store/usage/usage-query.ts'
import { UsageDeletedError } from '../../store/usage/usage-sources.ts'
import type { UsageSum } from '../../store/usage/usage-sum.ts'
import { decodePlace, encodePlace } from '../calls/analytics.ts'
import { toCallerFilter } from '../calls/caller-filter.ts'
import { CallerNames } from '../calls/caller-names.ts'
import { PeopleView } from '../calls/people-view.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'

const headsRoute = createRoute({
  method: 'get',
  path: '/v1/budgets/{id}/heads',
  operationId: 'listBudgetHeads',
  summary: 'List the users or keys under a default budget, the greatest use first',
  description:
    'For budgets of the scopes `each-user` and `each-key`: what each has used in the current ' +
    'period, from the ledger, without running calls. Keys count the whole hour in which the budget ' +
    'or its period begins. Budgets of other scopes have an empty list. Users are listed for callers ' +
    'that see figures of people.',
  tags: ['Budgets'],
  request: { params: z.object({ id: z.string() }), query: budgetHeadQuery },
  responses: {
    200: jsonContent(budgetHeadList, 'A page of users or keys.'),
    ...errorAnswers(400, 403, 404),
  },
})

export function bindBudgetHeads(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
): void {
  const { budgets } = dependencies
  app.openapi(headsRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { limit, cursor, user, key } = c.req.valid('query')
    const budget = budgets.get(accountId, c.req.valid('param').id)
    const { type } = budget.scope
    if (type !== 'each-user' && type !== 'each-key')
      return c.json({ data: [], nextCursor: null }, 200)
    const isOfUsers = type === 'each-user'
    assertFits(isOfUsers ? 'user' : 'key', { user, key })
    const people = new PeopleView(callerOf(c.env), dependencies)
    if (isOfUsers && !people.seesAll && people.self === undefined) throw people.refuse('id')
    const onlyUser = isOfUsers && !people.seesAll ? people.self : undefined
    const one = await toCallerFilter(dependencies, accountId, { user, people })
    const query: UsageQuery = {
      ...spanOfHeads(budget, Date.now()),
      interval: 'all',
      groupBy: isOfUsers ? 'user' : 'key',
      ...(onlyUser !== undefined && { userId: onlyUser }),
      ...one,
      ...(key !== undefined && { keyId: key }),
      // Playground calls count for their users.
      ...(isOfUsers ? {} : { onlyMember: '' }),
    }
    const order = budget.limit.type === 'tokens' ? 'tokens' : 'cost'
    const page = { order, limit, after: decodePlace(cursor, order) } as const
    const { sums, next } = await read(dependencies, accountId, query, page)
    const isHead = ({ group, isRest }: UsageSum) =>
      group !== null && !isRest && (isOfUsers || isServiceKey(dependencies, budget, group))
    const heads = sums.filter(isHead)
    const names = new CallerNames(dependencies, accountId)
    const ids = heads.map(({ group }) => group ?? '')
    await (isOfUsers ? names.findUsers(ids) : names.find(ids))
    const own = ownBudgets(budgets.list(accountId), budget)
    const toBody = (sum: UsageSum): z.input<typeof budgetHeadBody> => {
      const id = sum.group ?? ''
      const used = { tokens: sum.inputTokens + sum.outputTokens, nanoUsd: sum.costNanoUsd }
      return {
        id,
        name: isOfUsers ? names.userOf(id) : names.of(id),
        used: { tokens: used.tokens, usd: toUsd(used.nanoUsd), unpricedCalls: sum.unpriced },
        share: amountOf(budget.limit, used) / ceilingOf(budget, Date.now()),
        budgetId: own.get(id) ?? null,
      }
    }
    const nextCursor = next === undefined ? null : encodePlace(next, order)
    return c.json({ data: heads.map(toBody), nextCursor }, 200)
  })
}

/** @throws GatewayError `invalid_request` for a filter by the other kind of head */
function assertFits(kind: 'user' | 'key', given: Readonly<Record<string, string | undefined>>) {
  const other = kind === 'user' ? 'key' : 'user'
  if (given[other] === undefined) return
  const message = `is for budgets of the scope each-${other}: this budget limits each ${kind}`
  throw refuse([{ field: other, message }])
}

/** Users are summed from the exact time, but sums by key are by the hour. */
function spanOfHeads({ scope, period, timeZone, createdAt }: Budget, nowMs: number) {
  const startsAtMs = Math.max(spanOf(period, nowMs, timeZone).startsAtMs, createdAt)
  const fromMs = scope.type === 'each-key' ? hourOf(startsAtMs).startsAtMs : startsAtMs
  return { fromMs, toMs: startOfDay(nowMs) + DAY_MS }
}

const FIGURES = { percentiles: false } as const

/** Sums by user that are deleted count no more. */
async function read(
  { usage }: ControlPlaneDependencies,
  ...[accountId, query, page]: Parameters<ControlPlaneDependencies['usage']['readRange']>
) {
  try {
    return await usage.readRange(accountId, query, page, FIGURES)
  } catch (error) {
    if (!(error instanceof UsageDeletedError) || error.beforeMs >= query.toMs) throw error
    return await usage.readRange(accountId, { ...query, fromMs: error.beforeMs }, page, FIGURES)
  }
}

function isServiceKey(
  { keys }: ControlPlaneDependencies,
  { accountId }: Budget,
  id: string,
): boolean {
  const key = keys.recordOf(accountId, id as KeyId)
  return id.startsWith('key_') && key?.token?.owner?.type !== 'member'
}

/** By user or key: the budget that replaces the default. */
function ownBudgets(all: readonly Budget[], { scope, period, limit }: Budget) {
  const type = scope.type === 'each-user' ? 'user' : 'key'
  const own = new Map<string, string>()
  for (const budget of all) {
    if (budget.scope.type !== type) continue
    if (budget.period !== period || budget.limit.type !== limit.type) continue
    const { userId, keyId } = toLedgerScope(budget.scope)
    own.set(userId ?? keyId ?? '', budget.id)
  }
  return own
}

/** `/v1/budgets`: reads and writes budgets. How calls are counted is not known here. */
import { createRoute, z } from '@hono/zod-openapi'
import {
  type BudgetBody,
  budgetBody,
  budgetList,
  createBudgetBody,
  createBudgetNotes,
  updateBudgetBody,
  updateBudgetNotes,
} from '../contract/budgets.ts'
import { noQuery, pageQuery } from '../contract/lists.ts'
import {
  amountOf,
  type Budget,
  type BudgetLimit,
  type BudgetScope,
  ceilingOf,
  toPublicBudget,
} from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from './control-plane-app.ts'
import { decodeCursor, isAfter, type Position, toPage } from './paging.ts'
import { refuse, refuseProblems } from './refusals.ts'

const MICRO_USD = 1_000_000
const tags = ['Budgets']
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/budgets',
  operationId: 'listBudgets',
  summary: 'List budgets, newest first, with what is used of them',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(budgetList, 'A page of budgets.'), ...errorAnswers(400) },
})

const createBudgetRoute = createRoute({
  method: 'post',
  path: '/v1/budgets',
  operationId: 'createBudget',
  summary: 'Limit what a key or a gate may use',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createBudgetBody, 'The new budget.'), required: true },
  },
  responses: { 201: jsonContent(budgetBody, 'The budget.'), ...errorAnswers(400, 409, 413) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/budgets/{id}',
  operationId: 'getBudget',
  summary: 'Show a budget and what is used of it',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(budgetBody, 'The budget.'), ...errorAnswers(404) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/budgets/{id}',
  operationId: 'updateBudget',
  summary: 'Change a budget; what was used stays',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateBudgetBody, 'What changes.'), required: true },
  },
  responses: {
    200: jsonContent(budgetBody, 'The changed budget.'),
    ...errorAnswers(400, 404, 413),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/budgets/{id}',
  operationId: 'deleteBudget',
  summary: 'Delete a budget',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is gone.' }, ...errorAnswers(404) },
})

export function bindBudgets(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { budgets, whenCounted } = dependencies
  const toBody = (budget: Budget) => toBudgetBody(budget, budgets.windowOf(budget))

  app.openapi(listRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = budgets.list(accountId).filter((budget) => isAfter(toPosition(budget), after))
    const page = toPage(rows, limit, toPosition)
    await whenCounted(accountId, page.items)
    return c.json({ data: page.items.map(toBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    createBudgetRoute,
    async (c) => {
      const { accountId } = callerOf(c.env)
      const body = c.req.valid('json')
      const { keyId, gateId, limitTokens, limitUsd, period, unpriced, alertAt } = body
      const scope = toScope(dependencies, accountId, { keyId, gateId })
      const limit = toLimit({ limitTokens, limitUsd })
      // Not reachable: the contract demands one.
      if (limit === undefined) throw refuse([{ field: 'limitTokens', message: 'is required' }])
      const name = body.name ?? (scope.type === 'key' ? scope.keyId : scope.gateId)
      const settings = { name, scope, limit, period, unpriced, alertAt }
      return c.json(toBody(await budgets.create(accountId, settings)), 201)
    },
    refuseProblems(createBudgetNotes),
  )

  app.openapi(showRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { id } = c.req.valid('param')
    await whenCounted(accountId, [budgets.get(accountId, id)])
    return c.json(toBody(budgets.get(accountId, id)), 200)
  })

  app.openapi(
    updateRoute,
    async (c) => {
      const { accountId } = callerOf(c.env)
      const { id } = c.req.valid('param')
      const { name, limitTokens, limitUsd, unpriced, alertAt } = c.req.valid('json')
      await whenCounted(accountId, [budgets.get(accountId, id)])
      const limit = toLimit({ limitTokens, limitUsd })
      const other = budgets.get(accountId, id).limit.type === 'tokens' ? limitUsd : limitTokens
      if (other !== undefined) {
        const field = limitUsd === other ? 'limitUsd' : 'limitTokens'
        throw refuse([
          { field, message: 'is not what this budget limits; make a new budget instead' },
        ])
      }
      return c.json(
        toBody(await budgets.update(accountId, id, { name, limit, unpriced, alertAt })),
        200,
      )
    },
    refuseProblems(updateBudgetNotes),
  )

  app.openapi(deleteRoute, async (c) => {
    await budgets.delete(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.body(null, 204)
  })
}

/** @throws GatewayError `invalid_request` when the account has no such key or gate */
function toScope(
  { keys, gates }: ControlPlaneDependencies,
  accountId: AccountId,
  given: { readonly keyId?: string | undefined; readonly gateId?: string | undefined },
): BudgetScope {
  if (given.gateId !== undefined) {
    const gate = gates.find(accountId, given.gateId)
    if (gate === undefined)
      throw refuse([{ field: 'gateId', message: 'names no gate of this account' }])
    return { type: 'gate', gateId: gate.id }
  }
  const key = keys.list(accountId).find((candidate) => candidate.id === given.keyId)
  if (key === undefined)
    throw refuse([{ field: 'keyId', message: 'is not the id of a key of this account' }])
  return { type: 'key', keyId: key.id }
}

function toLimit(given: {
  readonly limitTokens?: number | undefined
  readonly limitUsd?: number | undefined
}): BudgetLimit | undefined {
  const { limitTokens, limitUsd } = given
  if (limitTokens !== undefined) return { type: 'tokens', tokens: limitTokens }
  return limitUsd === undefined
    ? undefined
    : { type: 'spend', microUsd: Math.round(limitUsd * MICRO_USD) }
}

function toPosition(budget: Budget): Position {
  return { at: budget.createdAt, id: budget.id }
}

function toBudgetBody(
  budget: Budget,
  window: ReturnType<ControlPlaneDependencies['budgets']['windowOf']>,
): BudgetBody {
  const { limit } = budget
  const { tokens = 0, microUsd = 0, unpricedCalls = 0 } = window?.shown ?? {}
  const { reservedTokens = 0, reservedMicroUsd = 0 } = window ?? {}
  const endsAtMs = window?.endsAtMs ?? Number.POSITIVE_INFINITY
  return {
    ...toPublicBudget(budget),
    used: { tokens, usd: microUsd / MICRO_USD, unpricedCalls },
    reserved: { tokens: reservedTokens, usd: reservedMicroUsd / MICRO_USD },
    isExhausted: amountOf(limit, { tokens, microUsd }) >= ceilingOf(limit),
    resetsAt: Number.isFinite(endsAtMs) ? new Date(endsAtMs).toISOString() : null,
  }
}

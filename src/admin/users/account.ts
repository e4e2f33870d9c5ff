import { createRoute } from '@hono/zod-openapi'
import { type AccountBody, accountBody } from '../../contract/account.ts'
import { noQuery } from '../../contract/lists.ts'
import { type AccountNameBody, accountNameBody, updateAccountBody } from '../../contract/users.ts'
import type { AccountId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import type { Account } from '../../store/users/accounts.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { ifMatched, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'

const showRoute = createRoute({
  method: 'get',
  path: '/v1/account',
  operationId: 'getAccount',
  summary: 'Show the account: plan, limits and quota usage',
  tags: ['Account'],
  request: { query: noQuery },
  responses: { 200: jsonContent(accountBody, 'The account.'), ...errorAnswers(400) },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

export function bindAccount(
  app: ControlPlaneApp,
  { accounts, quotaOf, retention, whenCounted }: ControlPlaneDependencies,
): void {
  app.openapi(showRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    await whenCounted(accountId, [])
    const { name } = toAccountNameBody(await accounts.find(accountId), accountId)
    const body = { ...toAccountBody({ id: accountId, name }, quotaOf(accountId)), retention }
    return c.json(body, 200, tagged('account', body))
  })
}

function toAccountBody(
  { id, name }: { readonly id: AccountId; readonly name: string },
  { plan, window }: ReturnType<ControlPlaneDependencies['quotaOf']>,
): Omit<AccountBody, 'retention'> {
  const { limits } = plan
  const { shown } = window
  const resetsAt = new Date(window.endsAtMs).toISOString()
  return {
    id,
    name,
    plan: plan.name,
    limits: { ...limits },
    quota: {
      tokens: {
        limit: limits.monthlyTokens,
        used: shown.tokens,
        reserved: window.reservedTokens,
        resetsAt,
      },
      spend: {
        limit: limits.monthlySpendUsd,
        used: toUsd(shown.nanoUsd),
        reserved: toUsd(window.reservedNanoUsd),
        resetsAt,
        unpricedCalls: shown.unpricedCalls,
      },
    },
  }
}

const tags = ['Account']

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/account',
  operationId: 'updateAccount',
  summary: 'Rename the account',
  tags,
  request: jsonRequest(updateAccountBody, 'The members to change.'),
  responses: {
    200: jsonContent(accountNameBody, 'The changed account.'),
    ...errorAnswers(400, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

export function bindAccountName(
  app: ControlPlaneApp,
  { accounts }: Pick<ControlPlaneDependencies, 'accounts'>,
): void {
  app.openapi(updateRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { name } = c.req.valid('json')
    const body = await ifMatched(c.env, { word: 'account', id: accountId }, async () => {
      if (name !== undefined) await accounts.rename(accountId, name)
      return toAccountNameBody(await accounts.find(accountId), accountId)
    })
    return c.json(body, 200, tagged('account', body))
  })
}

/** An ephemeral key may belong to an account without a row. */
export function toAccountNameBody(account: Account | undefined, id: string): AccountNameBody {
  return { id, name: account?.name ?? id }
}

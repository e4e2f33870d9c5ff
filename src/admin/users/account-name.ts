/**
 * `PATCH /v1/account`: the name of the caller's account. Must not know what the plan allows.
 */
import { createRoute } from '@hono/zod-openapi'
import { type AccountNameBody, accountNameBody, updateAccountBody } from '../../contract/users.ts'
import type { Account } from '../../store/users/accounts.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { ROUTE_DESCRIPTION } from '../resource-routes.ts'
import { ifMatched, tagged } from '../versions.ts'

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

/** A key that lives in memory only may belong to an account without a row. */
export function toAccountNameBody(account: Account | undefined, id: string): AccountNameBody {
  return { id, name: account?.name ?? id }
}

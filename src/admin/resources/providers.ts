/**
 * `/v1/providers`: the catalog, as it was handed in, and whose credential the account's calls use.
 * Names no provider.
 */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { providerList } from '../../contract/providers.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/providers',
  operationId: 'listProviders',
  summary: 'List the providers that targets may name',
  tags: ['Providers'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(providerList, 'All of them; there is one page.'),
    ...errorAnswers(400),
  },
})

type Dependencies = Pick<ControlPlaneDependencies, 'providers' | 'providerKeys'>

export function bindProviders(
  app: ControlPlaneApp,
  { providers, providerKeys }: Dependencies,
): void {
  app.openapi(listRoute, (c) => {
    const own = providerKeys.list(callerOf(c.env).accountId).filter(({ isActive }) => isActive)
    const ownIds = new Set(own.map(({ providerId }) => providerId))
    const data = providers.map((provider) => {
      const platform = provider.configured ? ('platform' as const) : null
      return { ...provider, credential: ownIds.has(provider.id) ? ('own' as const) : platform }
    })
    return c.json({ data, nextCursor: null }, 200)
  })
}

/** `/v1/providers`: the catalog, and whose credential the account's calls use. */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { type ProviderModelBody, providerList } from '../../contract/providers.ts'
import type { AccountId } from '../../core/ids.ts'
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
    200: jsonContent(providerList, 'All entries; there is one page.'),
    ...errorAnswers(400),
  },
})

type Dependencies = Pick<ControlPlaneDependencies, 'providers' | 'providerKeys'>

export function bindProviders(app: ControlPlaneApp, dependencies: Dependencies): void {
  const { providers } = dependencies
  app.openapi(listRoute, (c) => {
    const credentials = credentialsOf(dependencies, callerOf(c.env).accountId)
    const data = providers.map((provider) => ({
      ...provider,
      credential: credentials(provider.id),
    }))
    return c.json({ data, nextCursor: null }, 200)
  })
}

/** The owner of the credential that the account's calls use, by provider id. */
export function credentialsOf(
  { providers, providerKeys }: Dependencies,
  accountId: AccountId,
): (providerId: string) => ProviderModelBody['credential'] {
  const own = providerKeys.list(accountId).filter(({ isActive }) => isActive)
  const ownIds = new Set(own.map(({ providerId }) => providerId))
  const configured = new Set(providers.filter((one) => one.configured).map(({ id }) => id))
  return (providerId) => {
    if (ownIds.has(providerId)) return 'own'
    return configured.has(providerId) ? 'platform' : null
  }
}

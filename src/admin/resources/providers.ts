/** `/v1/providers`: the catalog, and whose credential the account's calls use. */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { providerList, providerModelList, providerModelsQuery } from '../../contract/providers.ts'
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

const listModelsRoute = createRoute({
  method: 'get',
  path: '/v1/provider-models',
  operationId: 'listProviderModels',
  summary: 'List the models that are known of the providers',
  description:
    'From the price table that is part of this version of the gateway, without what was ' +
    'withdrawn. Targets may name models that are not listed.',
  tags: ['Providers'],
  request: { query: providerModelsQuery },
  responses: {
    200: jsonContent(providerModelList, 'All entries; there is one page.'),
    ...errorAnswers(400),
  },
})

type ModelDependencies = Pick<ControlPlaneDependencies, 'providers' | 'modelsOf'>

export function bindProviderModels(
  app: ControlPlaneApp,
  { providers, modelsOf }: ModelDependencies,
): void {
  app.openapi(listModelsRoute, (c) => {
    const { provider } = c.req.valid('query')
    const asked = providers.filter(({ id }) => provider === undefined || id === provider)
    const data = asked.flatMap(({ id: providerId }) =>
      modelsOf(providerId).map((model) => ({
        provider: providerId,
        id: model.id,
        name: model.name ?? null,
        contextTokens: model.contextTokens ?? null,
        inputUsdPerMillion: model.inputUsdPerMillion ?? null,
        outputUsdPerMillion: model.outputUsdPerMillion ?? null,
      })),
    )
    return c.json({ data, nextCursor: null }, 200)
  })
}

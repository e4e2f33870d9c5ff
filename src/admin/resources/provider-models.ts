/**
 * `/v1/provider-models`: the models that are known of each provider, for those who choose a target.
 * Names no provider.
 */
import { createRoute } from '@hono/zod-openapi'
import { providerModelList, providerModelsQuery } from '../../contract/providers.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const listRoute = createRoute({
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
    200: jsonContent(providerModelList, 'All of them; there is one page.'),
    ...errorAnswers(400),
  },
})

type Dependencies = Pick<ControlPlaneDependencies, 'providers' | 'modelsOf'>

export function bindProviderModels(
  app: ControlPlaneApp,
  { providers, modelsOf }: Dependencies,
): void {
  app.openapi(listRoute, (c) => {
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

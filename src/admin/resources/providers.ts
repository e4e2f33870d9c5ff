/** `/v1/providers`: the catalog, as it was handed in. Names no provider. */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { providerList } from '../../contract/providers.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
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

export function bindProviders(app: ControlPlaneApp, { providers }: ControlPlaneDependencies): void {
  app.openapi(listRoute, (c) => c.json({ data: [...providers], nextCursor: null }, 200))
}

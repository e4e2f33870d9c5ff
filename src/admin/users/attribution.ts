/** `/v1/account/attribution`: the switches of attribution (decision 0121). */
import { createRoute } from '@hono/zod-openapi'
import { attributionBody, updateAttributionBody } from '../../contract/attribution.ts'
import { noQuery } from '../../contract/lists.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { ifMatched, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'

const path = '/v1/account/attribution'
const tags = ['Account']

const showRoute = createRoute({
  method: 'get',
  path,
  operationId: 'getAttribution',
  summary: 'Show what is recorded about callers',
  tags,
  request: { query: noQuery },
  responses: { 200: jsonContent(attributionBody, 'The switches.'), ...errorAnswers(400) },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

const updateRoute = createRoute({
  method: 'patch',
  path,
  operationId: 'updateAttribution',
  summary: 'Change what is recorded about callers',
  description: 'A change applies to new calls. Recorded calls and names stay.',
  tags,
  request: jsonRequest(updateAttributionBody, 'The switches to change.'),
  responses: {
    200: jsonContent(attributionBody, 'The changed switches.'),
    ...errorAnswers(400, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

export function bindAttribution(
  app: ControlPlaneApp,
  { attribution }: Pick<ControlPlaneDependencies, 'attribution'>,
): void {
  app.openapi(showRoute, (c) => {
    const body = { ...attribution.settingsOf(callerOf(c.env).accountId) }
    return c.json(body, 200, tagged('attribution', body))
  })

  app.openapi(updateRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const changes = c.req.valid('json')
    const isChange = Object.values(changes).some((value) => value !== undefined)
    const body = await ifMatched(c.env, { word: 'attribution', id: accountId }, async () => ({
      ...(isChange
        ? await attribution.change(accountId, changes)
        : attribution.settingsOf(accountId)),
    }))
    return c.json(body, 200, tagged('attribution', body))
  })
}

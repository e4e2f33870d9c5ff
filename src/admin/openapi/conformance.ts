/**
 * `/v1/conformance`: what becomes of each feature between an endpoint and a target. Found by
 * `scripts/docs.ts` and kept with the source, because the probes that find it do not ship.
 */
import { createRoute } from '@hono/zod-openapi'
import type { z } from 'zod'
import { conformanceList } from '../../contract/conformance.ts'
import { noQuery } from '../../contract/lists.ts'
import { type ControlPlaneApp, errorAnswers, jsonContent } from '../control-plane-app.ts'
import table from './conformance.generated.json' with { type: 'json' }

const listRoute = createRoute({
  method: 'get',
  path: '/v1/conformance',
  operationId: 'listConformance',
  summary: 'List what each endpoint loses at each target',
  tags: ['Providers'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(conformanceList, 'All of it; there is one page.'),
    ...errorAnswers(400),
  },
})

export function bindConformance(app: ControlPlaneApp): void {
  let list: z.infer<typeof conformanceList> | undefined
  app.openapi(listRoute, (c) => {
    list ??= conformanceList.parse({ data: table, nextCursor: null })
    return c.json(list, 200)
  })
}

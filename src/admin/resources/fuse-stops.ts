/** `/v1/fuse-stops`: how many sessions and users the fuse of each gate stopped. */
import { createRoute } from '@hono/zod-openapi'
import { fuseStopCounts } from '../../contract/fuse-stops.ts'
import { noQuery } from '../../contract/lists.ts'
import { readFusedStopId } from '../../core/stop.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const countRoute = createRoute({
  method: 'get',
  path: '/v1/fuse-stops',
  operationId: 'countFuseStops',
  summary: 'Count the sessions and users that fuses stopped, by gate',
  tags: ['Gates'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(fuseStopCounts, 'The gates with stops.'),
    ...errorAnswers(400),
  },
})

export function bindFuseStops(
  app: ControlPlaneApp,
  { gates, stops }: Pick<ControlPlaneDependencies, 'gates' | 'stops'>,
): void {
  app.openapi(countRoute, (c) => {
    const { accountId } = callerOf(c.env)
    const data = gates.list(accountId).flatMap(({ id: gateId, fuse }) => {
      if (fuse === null) return []
      const found = stops.listFused(accountId, { type: 'gate', id: gateId })
      const sessions = found.filter(({ id }) => readFusedStopId(id)?.kind === 'session').length
      return found.length === 0 ? [] : [{ gateId, sessions, users: found.length - sessions }]
    })
    return c.json({ data }, 200)
  })
}

/** `/v1/fuse-stops`: how many sessions and users the fuse of each gate and budget stopped. */
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
  summary: 'Count the sessions and users that fuses stopped, by gate and budget',
  tags: ['Gates'],
  request: { query: noQuery },
  responses: {
    200: jsonContent(fuseStopCounts, 'The gates and budgets with stops.'),
    ...errorAnswers(400),
  },
})

export function bindFuseStops(
  app: ControlPlaneApp,
  { gates, budgets, stops }: Pick<ControlPlaneDependencies, 'gates' | 'budgets' | 'stops'>,
): void {
  app.openapi(countRoute, (c) => {
    const { accountId } = callerOf(c.env)
    const owners = [
      ...gates.list(accountId).map((gate) => ({ ...gate, type: 'gate' as const, name: gate.id })),
      ...budgets.list(accountId).map((budget) => ({ ...budget, type: 'budget' as const })),
    ]
    const data = owners.flatMap(({ type, id, name, fuse }) => {
      if (fuse === null || fuse === undefined) return []
      const found = stops.listFused(accountId, { type, id })
      const sessions = found.filter(({ id: stop }) => readFusedStopId(stop)?.kind === 'session')
      const ids = { gateId: type === 'gate' ? id : null, budgetId: type === 'budget' ? id : null }
      const users = found.length - sessions.length
      return found.length === 0 ? [] : [{ ...ids, name, sessions: sessions.length, users }]
    })
    return c.json({ data }, 200)
  })
}

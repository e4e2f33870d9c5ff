/**
 * `/v1/gates/{id}/test`: asks every target of a gate once. How that is done is the data plane's.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { gateTestBody, testGateBody } from '../../contract/target-health.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const testRoute = createRoute({
  method: 'post',
  path: '/v1/gates/{id}/test',
  operationId: 'testGate',
  summary: 'Test a gate',
  description:
    'Asks every target once, in parallel, with a tiny request that is a call ' +
    'like any other: it counts for the limits and is in the log. A target that ' +
    'fails is a result, not an error.',
  tags: ['Gates'],
  request: {
    params: z.object({ id: z.string() }),
    query: noQuery,
    body: { ...jsonContent(testGateBody, 'May be left out.'), required: false },
  },
  responses: {
    200: jsonContent(gateTestBody, 'How each target did.'),
    ...errorAnswers(400, 404, 413),
  },
})

export function bindGateTests(
  app: ControlPlaneApp,
  { gates, testGate }: ControlPlaneDependencies,
): void {
  app.openapi(testRoute, async (c) => {
    const caller = callerOf(c.env)
    const gate = gates.get(caller.accountId, c.req.valid('param').id)
    return c.json({ gateId: gate.id, results: [...(await testGate(caller, gate))] }, 200)
  })
}

/**
 * The routes that stop a member or an access token, and lift the stop. Must not know members or
 * access tokens.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../contract/lists.ts'
import { endReport, stopBody } from '../contract/stops.ts'
import { GatewayError } from '../core/errors.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
  type EndReport,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from './control-plane-app.ts'
import { ifMatched, ROUTE_DESCRIPTION } from './resource-routes.ts'

interface StoppedResource {
  /** `/v1/members` */
  readonly path: string
  /** Used in operation ids: `stopMember`. */
  readonly name: string
  /** For people: `member`. */
  readonly one: string
  readonly group: string
  readonly description: string
  /**
   * Resolves when the caller may stop this member or token, or lift its stop.
   * @throws GatewayError `not_found`, `forbidden`, `conflict`
   */
  assertMay(act: 'stop' | 'lift', caller: ControlPlaneCaller, id: string): void | Promise<void>
}

export function bindStops(
  app: ControlPlaneApp,
  { stops, endCalls }: Pick<ControlPlaneDependencies, 'stops' | 'endCalls'>,
  { path, name, one, group, description, assertMay }: StoppedResource,
): void {
  const params = z.object({ id: z.string() })
  const stopRoute = createRoute({
    method: 'post',
    path: `${path}/{id}/stop`,
    operationId: `stop${name}`,
    summary: `Stop all calls of the ${one}`,
    description:
      `${description} The stop lasts until it is lifted. After this answer, no call is accepted, ` +
      'and running calls have ended.',
    tags: [group],
    request: { params, ...jsonRequest(stopBody, 'The reason, if any.') },
    responses: {
      200: jsonContent(endReport, 'It is stopped.'),
      ...errorAnswers(400, 403, 404, 409, 413),
    },
  })
  const liftRoute = createRoute({
    method: 'delete',
    path: `${path}/{id}/stop`,
    operationId: `lift${name}Stop`,
    summary: `Lift the stop of the ${one}`,
    description: 'Without a stop nothing changes.',
    tags: [group],
    request: { params, query: noQuery },
    responses: { 204: { description: 'It is not stopped.' }, ...errorAnswers(403, 404) },
    [ROUTE_DESCRIPTION]: { takesVersion: true },
  })

  app.openapi(stopRoute, async (c) => {
    const caller = callerOf(c.env)
    const { id } = c.req.valid('param')
    await assertMay('stop', caller, id)
    const { accountId } = caller
    const stop = await stops.stop({ accountId, id }, c.req.valid('json').reason ?? null)
    if (stop === undefined)
      throw new GatewayError('conflict', `The ${one} has changed in the meantime. Load it again.`)
    return c.json(toReport(await endCalls(id)), 200)
  })

  app.openapi(liftRoute, async (c) => {
    const caller = callerOf(c.env)
    const { id } = c.req.valid('param')
    await assertMay('lift', caller, id)
    const { accountId } = caller
    await ifMatched(c.env, { word: 'stop', id }, () => stops.lift({ accountId, id }))
    return c.body(null, 204)
  })
}

export function toReport({ callsEnded, nodesNotHeard }: EndReport) {
  return { stopped: true as const, callsEnded, nodesNotHeard }
}

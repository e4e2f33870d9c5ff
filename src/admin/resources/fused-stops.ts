/** The stops by the fuses of a kind of resource: their list, and the route that lifts one. */
import { createRoute, z } from '@hono/zod-openapi'
import { fusedStopList } from '../../contract/fuses.ts'
import { noQuery } from '../../contract/lists.ts'
import { FUSED_KINDS, type FuseOwner } from '../../core/fuse.ts'
import type { AccountId } from '../../core/ids.ts'
import { fusedStopId, readFusedStopId } from '../../core/stop.ts'
import { CallerNames } from '../calls/caller-names.ts'
import { PeopleView } from '../calls/people-view.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

interface FusedResource {
  /** `/v1/gates` */
  readonly path: string
  /** Used in operation ids: `listGateStops`. */
  readonly name: string
  /** For people: `gate`. */
  readonly one: string
  readonly group: string
  /** @throws GatewayError `not_found` */
  get(accountId: AccountId, id: string): FuseOwner
  /** @throws GatewayError `forbidden` */
  assertMayLift?(caller: ControlPlaneCaller, id: string): void
}

export function bindFusedStops(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
  { path, name, one, group, get, assertMayLift }: FusedResource,
): void {
  const { stops } = dependencies
  const listRoute = createRoute({
    method: 'get',
    path: `${path}/{id}/stops`,
    operationId: `list${name}Stops`,
    summary: `List the sessions and users that the fuse of a ${one} stopped`,
    tags: [group],
    request: { params: z.object({ id: z.string() }), query: noQuery },
    responses: {
      200: jsonContent(fusedStopList, 'The stops, newest first.'),
      ...errorAnswers(404),
    },
  })
  const liftRoute = createRoute({
    method: 'delete',
    path: `${path}/{id}/stops/{kind}/{head}`,
    operationId: `lift${name}Stop`,
    summary: `Lift the stop of a session or a user by the fuse of a ${one}`,
    description:
      'The next call is served, and the fuse counts anew. Without a stop nothing changes.',
    tags: [group],
    request: {
      params: z.object({ id: z.string(), kind: z.enum(FUSED_KINDS), head: z.string() }),
      query: noQuery,
    },
    responses: { 204: { description: 'It is not stopped.' }, ...errorAnswers(400, 403, 404) },
  })
  app.openapi(listRoute, async (c) => {
    const caller = callerOf(c.env)
    const { accountId } = caller
    const found = stops.listFused(accountId, get(accountId, c.req.valid('param').id))
    const people = new PeopleView(caller, dependencies)
    const names = new CallerNames(dependencies, accountId)
    const rows = found.flatMap((stop) => {
      const head = readFusedStopId(stop.id)
      return head === undefined ? [] : [{ ...stop, ...head }]
    })
    const isNamed = ({ kind, id }: (typeof rows)[number]) => kind === 'user' && people.sees(id)
    await names.findUsers(rows.filter(isNamed).map(({ id }) => id))
    const data = rows.map((row) => ({
      kind: row.kind,
      id: row.id,
      name: isNamed(row) ? names.userOf(row.id) : null,
      reason: row.reason,
      createdAt: new Date(row.createdAt).toISOString(),
    }))
    return c.json({ data }, 200)
  })
  app.openapi(liftRoute, async (c) => {
    const caller = callerOf(c.env)
    const { accountId } = caller
    const { id, kind, head } = c.req.valid('param')
    const owner = get(accountId, id)
    assertMayLift?.(caller, id)
    const stopId = fusedStopId({ accountId, owner, kind, id: head })
    await stops.lift({ accountId, id: stopId })
    return c.body(null, 204)
  })
}

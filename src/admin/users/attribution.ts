/** `/v1/account/attribution`: the switches of attribution (decision 0121). */
import { createRoute } from '@hono/zod-openapi'
import { attributionBody, updateAttributionBody } from '../../contract/attribution.ts'
import { noQuery } from '../../contract/lists.ts'
import type { PeopleFigures } from '../../core/attribution.ts'
import { GatewayError } from '../../core/errors.ts'
import {
  assertOwnerOrKey,
  type ControlPlaneApp,
  type ControlPlaneCaller,
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
  description:
    'A change applies to new calls. Recorded calls and names stay. `peopleFigures` applies to all ' +
    'figures at once. Only the signed-in owner changes it; in an account without members, an API ' +
    'key does.',
  tags,
  request: jsonRequest(updateAttributionBody, 'The switches to change.'),
  responses: {
    200: jsonContent(attributionBody, 'The changed switches.'),
    ...errorAnswers(400, 403, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

const replaceKeyRoute = createRoute({
  method: 'delete',
  path: `${path}/hash-key`,
  operationId: 'replaceHashKey',
  summary: 'Erase all end users with a new hash key',
  description:
    'Replaces the key under which names are hashed, and deletes the names of all end users. Their ' +
    'recorded calls and sums stay under hashes that cannot be connected with a name again. Users, ' +
    'sessions and tags of new calls have new hashes, so their sums begin anew; members have ' +
    'ids instead of hashes, so their sums continue. Names of tags stay beside their old hashes. Stops by ' +
    'fuses of sessions and end users are deleted. Only the owner and API keys may do this. It ' +
    'cannot be undone.',
  tags,
  request: { query: noQuery },
  responses: { 204: { description: 'All end users are erased.' }, ...errorAnswers(403, 503) },
  [ROUTE_DESCRIPTION]: { takesVersion: true },
})

export function bindAttribution(
  app: ControlPlaneApp,
  {
    attribution,
    budgets,
    members,
    stops,
  }: Pick<ControlPlaneDependencies, 'attribution' | 'budgets' | 'members' | 'stops'>,
): void {
  app.openapi(showRoute, (c) => {
    const body = { ...attribution.settingsOf(callerOf(c.env).accountId) }
    return c.json(body, 200, tagged('attribution', body))
  })

  app.openapi(updateRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const changes = c.req.valid('json')
    const isChange = Object.values(changes).some((value) => value !== undefined)
    const body = await ifMatched(c.env, { word: 'attribution', id: accountId }, async () => {
      await assertMayChange(callerOf(c.env), changes.peopleFigures)
      const settings = isChange
        ? await attribution.change(accountId, changes)
        : attribution.settingsOf(accountId)
      return { ...settings }
    })
    return c.json(body, 200, tagged('attribution', body))
  })

  app.openapi(replaceKeyRoute, async (c) => {
    const caller = callerOf(c.env)
    assertOwnerOrKey(caller)
    const { accountId } = caller
    await ifMatched(c.env, { word: 'attribution', id: accountId }, async () => {
      const budgetIds = await attribution.replaceKey(accountId)
      await budgets.follow(budgetIds.map((id) => ({ accountId, id })))
      await stops.followFused(accountId)
    })
    return c.body(null, 204)
  })

  /** @throws GatewayError `forbidden` */
  async function assertMayChange(
    { accountId, actor }: ControlPlaneCaller,
    peopleFigures: PeopleFigures | undefined,
  ): Promise<void> {
    const { peopleFigures: before } = attribution.settingsOf(accountId)
    if (peopleFigures === undefined || peopleFigures === before) return
    const isOwner = actor.type === 'user' && actor.member.role === 'owner'
    if (isOwner || (actor.type === 'key' && !(await members.hasAny(accountId)))) return
    throw new GatewayError(
      'forbidden',
      'Only the signed-in owner of the account may change who sees figures of people.',
      { param: 'peopleFigures' },
    )
  }
}

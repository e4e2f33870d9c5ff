/**
 * `/v1/provider-keys`: sets, lists and removes an account's own provider credentials. A key goes in
 * and never comes out.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../../contract/lists.ts'
import {
  type ProviderKeyBody,
  providerKeyBody,
  providerKeyList,
  setProviderKeyBody,
  setProviderKeyNotes,
  updateProviderKeyBody,
  updateProviderKeyNotes,
} from '../../contract/provider-keys.ts'
import { GatewayError } from '../../core/errors.ts'
import {
  normaliseProviderKey,
  type ProviderKey,
  toPublicProviderKey,
} from '../../core/provider-key.ts'
import { Secret } from '../../core/secret.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, isAfter, type Position, toPage } from '../paging.ts'
import { refuse, refuseProblems } from '../refusals.ts'

const tags = ['Provider keys']
const params = z.object({
  provider: z
    .string()
    .meta({ description: 'A provider of `GET /v1/providers`.', example: 'sandbox' }),
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/provider-keys',
  operationId: 'listProviderKeys',
  summary: "List the account's own provider keys, newest first",
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(providerKeyList, 'A page of keys, masked.'), ...errorAnswers(400) },
})

const setRoute = createRoute({
  method: 'put',
  path: '/v1/provider-keys/{provider}',
  operationId: 'setProviderKey',
  summary: "Set or replace the account's own key for a provider",
  description:
    "Calls that begin after the answer use it in place of the platform's credential, and do " +
    "not count for the plan's quota. " +
    'One that the provider refuses fails the call: nothing takes its place.',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(setProviderKeyBody, 'The key.'), required: true },
  },
  responses: {
    200: jsonContent(providerKeyBody, 'It was replaced.'),
    201: jsonContent(providerKeyBody, 'It was set.'),
    ...errorAnswers(400, 404, 413),
  },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/provider-keys/{provider}',
  operationId: 'updateProviderKey',
  summary: "Activate or deactivate the account's own key for a provider",
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateProviderKeyBody, 'Whether calls use it.'), required: true },
  },
  responses: {
    200: jsonContent(providerKeyBody, 'The key, masked.'),
    ...errorAnswers(400, 404, 413),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/provider-keys/{provider}',
  operationId: 'deleteProviderKey',
  summary: "Delete the account's own key for a provider",
  description: 'Calls that begin after the answer do not use it.',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is gone.' }, ...errorAnswers(404) },
})

export function bindProviderKeys(
  app: ControlPlaneApp,
  { providerKeys, providers }: ControlPlaneDependencies,
): void {
  const known: ReadonlySet<string> = new Set(providers.map((provider) => provider.id))

  app.openapi(listRoute, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = providerKeys
      .list(callerOf(c.env).accountId)
      .filter((key) => isAfter(toPosition(key), after))
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toProviderKeyBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    setRoute,
    async (c) => {
      const { key: given, active } = c.req.valid('json')
      const providerId = assertKnown(c.req.valid('param').provider, known)
      const key = normaliseProviderKey(given)
      if (key === undefined) throw refuse([{ field: 'key', message: KEY_PROBLEM }])
      const { accountId } = callerOf(c.env)
      const saved = await providerKeys.set({
        accountId,
        providerId,
        secret: new Secret(key),
        isActive: active,
      })
      return c.json(toProviderKeyBody(saved.key), saved.isNew ? 201 : 200)
    },
    refuseProblems(setProviderKeyNotes),
  )

  app.openapi(
    updateRoute,
    async (c) => {
      const { active } = c.req.valid('json')
      const providerId = assertKnown(c.req.valid('param').provider, known)
      const key = await providerKeys.setActive(callerOf(c.env).accountId, providerId, active)
      return c.json(toProviderKeyBody(key), 200)
    },
    refuseProblems(updateProviderKeyNotes),
  )

  app.openapi(deleteRoute, async (c) => {
    const providerId = assertKnown(c.req.valid('param').provider, known)
    await providerKeys.delete(callerOf(c.env).accountId, providerId)
    return c.body(null, 204)
  })
}

const KEY_PROBLEM =
  'must be the whole key as the provider gave it, in printable ASCII without spaces, line ' +
  'breaks or control characters; or one JSON object'

/** What may be a provider's name and is hardly a credential that ended up in the path. */
const NAME_LIKE = /^[a-z][a-z-]{0,23}$/

/** @throws GatewayError `not_found`, naming the provider where it looks like the name of one */
function assertKnown(providerId: string, known: ReadonlySet<string>): string {
  if (known.has(providerId)) return providerId
  const named = NAME_LIKE.test(providerId) ? ` '${providerId}'` : ' with this name'
  throw new GatewayError(
    'not_found',
    `provider: there is no provider${named}; known are ${[...known].join(', ')}`,
    { param: 'provider' },
  )
}

function toPosition(key: ProviderKey): Position {
  return { at: key.createdAt, id: key.providerId }
}

function toProviderKeyBody(key: ProviderKey): ProviderKeyBody {
  return toPublicProviderKey(key)
}

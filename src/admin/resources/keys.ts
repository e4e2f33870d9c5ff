/**
 * `/v1/keys`: creates, lists, imports, renames, rotates and revokes API keys. Only the answer to a
 * creation or rotation contains the key.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { importKeyBody, keyResource, rotateKeyBody } from '../../contract/keys.ts'
import { type ApiKey, toPublicKey } from '../../core/api-key.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId, KeyId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import {
  assertMayGiveAccess,
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { bindResource, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'
import { toReport } from '../stop-routes.ts'
import { checkFixed } from './check-fixed.ts'

const tags = [keyResource.group]

const importRoute = createRoute({
  method: 'post',
  path: '/v1/keys/import',
  operationId: 'importKey',
  summary: 'Import a key that was created elsewhere',
  description: 'A key that any account deleted cannot be imported: 409.',
  tags,
  request: jsonRequest(importKeyBody, 'The key and its label.'),
  responses: {
    201: jsonContent(keyResource.body, 'The key, masked.'),
    ...errorAnswers(400, 403, 409, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

const rotateRoute = createRoute({
  method: 'post',
  path: '/v1/keys/{id}/rotate',
  operationId: 'rotateKey',
  summary: 'Rotate an API key',
  description:
    'Its id, name, budgets, limits and logs stay. The old text is accepted for a time that ' +
    'the request chooses, and dead for ever then. While it is, another rotation is 409, but ' +
    'for one that ends all older ones at once. Whoever presents the old text may neither rotate ' +
    'nor make keys, nor invite: 403.',
  tags,
  request: {
    params: z.object({ id: z.string() }),
    ...jsonRequest(rotateKeyBody, 'The time when the old key expires.'),
  },
  responses: {
    201: jsonContent(keyResource.created, 'The new key, shown only once.'),
    ...errorAnswers(400, 403, 404, 409, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

export function bindKeys(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { keys, endCalls } = dependencies
  bindResource(app, keyResource, {
    word: 'key',
    list: (accountId, part) => keys.list(accountId, 'key', part),
    async create(accountId, { name, expiresAt, ...fixed }, bindings) {
      assertMayGiveAccess(callerOf(bindings))
      await checkFixed(dependencies, accountId, fixed)
      const label = { accountId, name, expiresAt: toTime(expiresAt) ?? null, ...fixed }
      const { record, key } = await keys.create(label)
      return { ...toBody(record), key: key.reveal() }
    },
    bindOthers: bindImport,
    show: find,
    async update(accountId, id, { name, expiresAt, ...fixed }) {
      find(accountId, id)
      await checkFixed(dependencies, accountId, fixed)
      const update = { name, expiresAt: toTime(expiresAt), ...fixed }
      return toBody(await keys.update(accountId, id as KeyId, update))
    },
    async delete(accountId, id) {
      find(accountId, id)
      if (!(await keys.delete(accountId, id as KeyId))) throw keyNotFound()
      return toReport(await endCalls(id))
    },
    idOf: ({ id }) => id,
    toBody,
  })

  function bindImport(): void {
    app.openapi(importRoute, async (c) => {
      const { name, key, expiresAt } = c.req.valid('json')
      const caller = callerOf(c.env)
      assertMayGiveAccess(caller)
      const { accountId } = caller
      const label = { accountId, name, expiresAt: toTime(expiresAt) ?? null }
      const body = toBody(await keys.import({ ...label, key: new Secret(key) }))
      return c.json(body, 201, tagged('key', body))
    })
  }

  app.openapi(rotateRoute, async (c) => {
    const { oldEndsInSeconds } = c.req.valid('json')
    const caller = callerOf(c.env)
    assertMayGiveAccess(caller)
    const { accountId } = caller
    const { id } = find(accountId, c.req.valid('param').id)
    const { record, key } = await keys.rotate(accountId, id, oldEndsInSeconds * 1000)
    const body = { ...toBody(record), key: key.reveal() }
    return c.json(body, 201, tagged('key', body))
  })

  function find(accountId: AccountId, id: string): ApiKey {
    const found = keys.recordOf(accountId, id as KeyId)
    if (found === undefined || found.token !== undefined) throw keyNotFound()
    return found
  }
}

function toBody(key: ApiKey) {
  return { ...toPublicKey(key), user: key.user ?? null }
}

function keyNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no key with this id.')
}

/** Milliseconds since the Unix epoch; invalid text is returned unchanged. */
export function toTime(text: string | null | undefined): number | null | undefined {
  return text == null ? text : Date.parse(text)
}

/**
 * `/v1/keys`: makes, lists, imports, renames, rotates and revokes API keys. A key leaves by the
 * answer to its creation or rotation and by no other.
 */
import { createRoute, z } from '@hono/zod-openapi'
import {
  createdKeyBody,
  createKeyBody,
  importKeyBody,
  type KeyBody,
  keyBody,
  keyList,
  rotateKeyBody,
  updateKeyBody,
} from '../../contract/keys.ts'
import { noQuery, pageQuery } from '../../contract/lists.ts'
import { type ApiKey, toPublicKey } from '../../core/api-key.ts'
import { GatewayError } from '../../core/errors.ts'
import type { KeyId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, isAfter, type Position, toPage } from '../paging.ts'

const tags = ['API keys']
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/keys',
  operationId: 'listKeys',
  summary: 'List API keys, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(keyList, 'A page of keys, masked.'), ...errorAnswers(400) },
})

const createKeyRoute = createRoute({
  method: 'post',
  path: '/v1/keys',
  operationId: 'createKey',
  summary: 'Create an API key',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createKeyBody, 'Its label.'), required: true },
  },
  responses: {
    201: jsonContent(createdKeyBody, 'The key, shown this once.'),
    ...errorAnswers(400, 409, 413),
  },
})

const importRoute = createRoute({
  method: 'post',
  path: '/v1/keys/import',
  operationId: 'importKey',
  summary: 'Take over a key that was made elsewhere',
  description: 'A key that was deleted, by whichever account, stays so: 409.',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(importKeyBody, 'The key and its label.'), required: true },
  },
  responses: { 201: jsonContent(keyBody, 'The key, masked.'), ...errorAnswers(400, 409, 413) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/keys/{id}',
  operationId: 'getKey',
  summary: 'Show an API key, masked',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(keyBody, 'The key, masked.'), ...errorAnswers(404) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/keys/{id}',
  operationId: 'updateKey',
  summary: 'Rename an API key, or set when it expires',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateKeyBody, 'What changes.'), required: true },
  },
  responses: { 200: jsonContent(keyBody, 'The key, masked.'), ...errorAnswers(400, 404, 409, 413) },
})

const rotateRoute = createRoute({
  method: 'post',
  path: '/v1/keys/{id}/rotate',
  operationId: 'rotateKey',
  summary: 'Give an API key a new text',
  description:
    'Its id, name, budgets, limits and logs stay. The old text is accepted for a time that ' +
    'the request chooses, and dead for ever then. While it is, another rotation is 409, but ' +
    'for one that ends all older ones at once.',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(rotateKeyBody, 'When the old one ends.'), required: true },
  },
  responses: {
    201: jsonContent(createdKeyBody, 'The new key, shown this once.'),
    ...errorAnswers(400, 404, 409, 413),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/keys/{id}',
  operationId: 'deleteKey',
  summary: 'Revoke an API key',
  description: 'Once this has answered, no call with the key is accepted.',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is revoked.' }, ...errorAnswers(404) },
})

export function bindKeys(app: ControlPlaneApp, { keys }: ControlPlaneDependencies): void {
  app.openapi(listRoute, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = keys
      .list(callerOf(c.env).accountId)
      .filter((key) => isAfter(toPosition(key), after))
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toKeyBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(createKeyRoute, async (c) => {
    const { name, expiresAt } = c.req.valid('json')
    const label = {
      accountId: callerOf(c.env).accountId,
      name,
      expiresAt: toTime(expiresAt) ?? null,
    }
    const { record, key } = await keys.create(label)
    return c.json({ ...toKeyBody(record), key: key.reveal() }, 201)
  })

  app.openapi(importRoute, async (c) => {
    const { name, key, expiresAt } = c.req.valid('json')
    const label = {
      accountId: callerOf(c.env).accountId,
      name,
      expiresAt: toTime(expiresAt) ?? null,
    }
    const record = await keys.import({ ...label, key: new Secret(key) })
    return c.json(toKeyBody(record), 201)
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const found = keys.list(callerOf(c.env).accountId).find((key) => key.id === id)
    if (found === undefined) throw new GatewayError('not_found', 'There is no key with this id.')
    return c.json(toKeyBody(found), 200)
  })

  app.openapi(updateRoute, async (c) => {
    const { name, expiresAt } = c.req.valid('json')
    const update = { name, expiresAt: toTime(expiresAt) }
    const { accountId } = callerOf(c.env)
    return c.json(
      toKeyBody(await keys.update(accountId, c.req.valid('param').id as KeyId, update)),
      200,
    )
  })

  app.openapi(rotateRoute, async (c) => {
    const { oldEndsInSeconds } = c.req.valid('json')
    const { accountId } = callerOf(c.env)
    const id = c.req.valid('param').id as KeyId
    const { record, key } = await keys.rotate(accountId, id, oldEndsInSeconds * 1000)
    return c.json({ ...toKeyBody(record), key: key.reveal() }, 201)
  })

  app.openapi(deleteRoute, async (c) => {
    const wasThere = await keys.delete(callerOf(c.env).accountId, c.req.valid('param').id as KeyId)
    if (!wasThere) throw new GatewayError('not_found', 'There is no key with this id.')
    return c.body(null, 204)
  })
}

function toPosition(key: ApiKey): Position {
  return { at: key.createdAt, id: key.id }
}

/** Milliseconds since the Unix epoch; what is no time stays as it is. */
function toTime(text: string | null | undefined): number | null | undefined {
  return text == null ? text : Date.parse(text)
}

function toKeyBody(key: ApiKey): KeyBody {
  return toPublicKey(key)
}

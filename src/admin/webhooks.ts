/** `/v1/webhooks`: reads and writes webhooks, and sends a test. A secret leaves by the answer to its generation only. */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../contract/lists.ts'
import {
  createdWebhookBody,
  createWebhookBody,
  updateWebhookBody,
  type WebhookBody,
  webhookBody,
  webhookList,
  webhookNotes,
  webhookTestBody,
} from '../contract/webhooks.ts'
import { Secret } from '../core/secret.ts'
import { toPublicWebhook, type Webhook } from '../core/webhook.ts'
import type { CheckAddress } from '../webhooks/check-address.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from './control-plane-app.ts'
import { decodeCursor, isAfter, type Position, toPage } from './paging.ts'
import { refuse, refuseProblems } from './refusals.ts'

const tags = ['Webhooks']
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/webhooks',
  operationId: 'listWebhooks',
  summary: 'List webhooks, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(webhookList, 'A page of webhooks.'), ...errorAnswers(400) },
})

const createWebhookRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks',
  operationId: 'createWebhook',
  summary: 'Have an address told of events',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createWebhookBody, 'The new webhook.'), required: true },
  },
  responses: {
    201: jsonContent(createdWebhookBody, 'The webhook.'),
    ...errorAnswers(400, 409, 413),
  },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/webhooks/{id}',
  operationId: 'getWebhook',
  summary: 'Show a webhook',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(webhookBody, 'The webhook.'), ...errorAnswers(404) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/webhooks/{id}',
  operationId: 'updateWebhook',
  summary: 'Change a webhook',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateWebhookBody, 'What changes.'), required: true },
  },
  responses: {
    200: jsonContent(webhookBody, 'The changed webhook.'),
    ...errorAnswers(400, 404, 413),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/webhooks/{id}',
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook, with what is on its way to it',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is gone.' }, ...errorAnswers(404) },
})

const testRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  operationId: 'testWebhook',
  summary: 'Send an event `webhook.test` now, once',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(webhookTestBody, 'What became of it.'), ...errorAnswers(400, 404) },
})

export function bindWebhooks(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { webhooks, testWebhook, checkWebhookAddress } = dependencies

  app.openapi(listRoute, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = webhooks
      .list(callerOf(c.env).accountId)
      .filter((hook) => isAfter(toPosition(hook), after))
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toWebhookBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    createWebhookRoute,
    async (c) => {
      const { url, secret, events, active } = c.req.valid('json')
      await assertAllowed(checkWebhookAddress, url)
      const { webhook, generated } = await webhooks.create(callerOf(c.env).accountId, {
        url,
        secret: secret === undefined ? undefined : new Secret(secret),
        events,
        isActive: active,
      })
      const shown = generated === undefined ? {} : { secret: generated.reveal() }
      return c.json({ ...toWebhookBody(webhook), ...shown }, 201)
    },
    refuseProblems(webhookNotes),
  )

  app.openapi(showRoute, (c) =>
    c.json(toWebhookBody(webhooks.get(callerOf(c.env).accountId, c.req.valid('param').id)), 200),
  )

  app.openapi(
    updateRoute,
    async (c) => {
      const { accountId } = callerOf(c.env)
      const { id } = c.req.valid('param')
      const { url, secret, events, active } = c.req.valid('json')
      webhooks.get(accountId, id)
      if (url !== undefined) await assertAllowed(checkWebhookAddress, url)
      const webhook = await webhooks.update(accountId, id, {
        url,
        secret: secret === undefined ? undefined : new Secret(secret),
        events,
        isActive: active,
      })
      return c.json(toWebhookBody(webhook), 200)
    },
    refuseProblems(webhookNotes),
  )

  app.openapi(deleteRoute, async (c) => {
    await webhooks.delete(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.body(null, 204)
  })

  app.openapi(testRoute, async (c) => {
    const webhook = webhooks.get(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.json(await testWebhook(webhook), 200)
  })
}

/** @throws GatewayError `invalid_request` that names the field */
async function assertAllowed(checkAddress: CheckAddress, url: string): Promise<void> {
  try {
    await checkAddress(url)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AddressRefusedError')) throw error
    throw refuse([{ field: 'url', message: error.message }])
  }
}

function toPosition(webhook: Webhook): Position {
  return { at: webhook.createdAt, id: webhook.id }
}

function toWebhookBody(webhook: Webhook): WebhookBody {
  return toPublicWebhook(webhook)
}

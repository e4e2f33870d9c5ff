/**
 * `/v1/webhooks`: reads and writes webhooks, and sends a test. Only the answer to the generation of
 * a secret contains the secret.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { webhookResource, webhookTestBody } from '../../contract/webhooks.ts'
import { Secret } from '../../core/secret.ts'
import { toPublicWebhook } from '../../core/webhook.ts'
import type { CheckAddress } from '../../webhooks/webhook-sender.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { bindResource } from '../resource-routes.ts'

const testRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  operationId: 'testWebhook',
  summary: 'Send an event `webhook.test` now, once',
  tags: [webhookResource.group],
  request: { params: z.object({ id: z.string() }), query: noQuery },
  responses: {
    200: jsonContent(webhookTestBody, 'The result of the delivery.'),
    ...errorAnswers(400, 404),
  },
})

export function bindWebhooks(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { webhooks, testWebhook, checkWebhookAddress } = dependencies

  bindResource(app, webhookResource, {
    word: 'webhook',
    list: (accountId) => webhooks.list(accountId),
    show: (accountId, id) => webhooks.get(accountId, id),
    async create(accountId, { url, secret, events, active }) {
      await assertAllowed(checkWebhookAddress, url)
      const { webhook, generated } = await webhooks.create(accountId, {
        url,
        secret: secret === undefined ? undefined : new Secret(secret),
        events,
        isActive: active,
      })
      const shown = generated === undefined ? {} : { secret: generated.reveal() }
      return { ...toPublicWebhook(webhook), ...shown }
    },
    async update(accountId, id, { url, secret, events, active }) {
      webhooks.get(accountId, id)
      if (url !== undefined) await assertAllowed(checkWebhookAddress, url)
      const webhook = await webhooks.update(accountId, id, {
        url,
        secret: secret === undefined ? undefined : new Secret(secret),
        events,
        isActive: active,
      })
      return toPublicWebhook(webhook)
    },
    delete: (accountId, id) => webhooks.delete(accountId, id),
    idOf: ({ id }) => id,
    toBody: toPublicWebhook,
  })

  app.openapi(testRoute, async (c) => {
    const webhook = webhooks.get(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.json(await testWebhook(webhook), 200)
  })
}

async function assertAllowed(checkAddress: CheckAddress, url: string): Promise<void> {
  try {
    await checkAddress(url)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AddressRefusedError')) throw error
    throw refuse([{ field: 'url', message: error.message }])
  }
}

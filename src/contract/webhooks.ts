/**
 * Webhooks as the control plane reads and writes them. Only the answer to the generation of a
 * secret contains the secret.
 */
import { z } from 'zod'
import { WEBHOOK_EVENTS } from '../core/webhook.ts'
import { listOf } from './lists.ts'
import type { FieldNotes } from './problems.ts'
import type { ResourceDescription } from './resource-description.ts'

const MIN_SECRET = 16
const MAX_SECRET = 200

const url = z.string().min(1).max(2000).meta({
  description: 'A public https address. Redirects are not followed.',
  example: 'https://example.com/hooks/gatehouse',
})
const secret = z
  .string()
  .max(MAX_SECRET)
  .refine((value) => value.length >= MIN_SECRET && value.trim() === value && value.isWellFormed(), {
    error: `must hold at least ${MIN_SECRET} characters, without spaces around them`,
  })
  .meta({
    description: 'The secret that signs deliveries, never shown again.',
    writeOnly: true,
    minLength: MIN_SECRET,
  })
const event = z.enum(WEBHOOK_EVENTS)
const events = z
  .array(event)
  .min(1)
  .refine((list) => new Set(list).size === list.length, { error: 'must not name an event twice' })
  .meta({ uniqueItems: true })
const active = z.boolean().meta({ description: 'Whether events are sent to the webhook.' })
const time = z.iso.datetime()

const webhookFields = {
  id: z.string(),
  url,
  events: z.array(event),
  active,
  createdAt: time,
  updatedAt: time,
}

const webhookBody = z.object(webhookFields).meta({
  id: 'Webhook',
  description:
    'A webhook is an address that receives events. The secret of a webhook is never shown.',
})

const createdWebhookBody = z
  .object({
    ...webhookFields,
    secret: z.string().optional().meta({
      description: 'The generated secret, shown only once; absent if the request had a secret.',
    }),
  })
  .meta({ id: 'CreatedWebhook' })

export const createWebhookBody = z
  .strictObject({
    url,
    secret: secret.optional().meta({
      description: 'The secret that signs deliveries; generated if absent, and then shown once.',
      writeOnly: true,
    }),
    events,
    active: active.default(true),
  })
  .meta({ id: 'CreateWebhook' })

export const updateWebhookBody = z
  .strictObject({ url, secret, events, active })
  .partial()
  .meta({ id: 'UpdateWebhook', description: 'Only the given fields change.' })

export const webhookTestBody = z
  .object({
    delivered: z.boolean(),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status of the receiver; null: the receiver did not answer.' }),
    detail: z.string(),
  })
  .meta({ id: 'WebhookTest' })

const notes: FieldNotes = { id: 'is set by the gateway' }

export const webhookResource = {
  name: 'Webhook',
  names: 'Webhooks',
  one: 'webhook',
  many: 'webhooks',
  path: '/v1/webhooks',
  group: 'Webhooks',
  groupDescription: 'Addresses that receive events of the account.',
  operations: {
    list: 'List webhooks, newest first',
    create: 'Send events to an address',
    show: 'Show a webhook',
    update: 'Change a webhook',
    delete: 'Delete a webhook, with what is on its way to it',
  },
  list: listOf(webhookBody, 'WebhookList'),
  body: webhookBody,
  created: createdWebhookBody,
  create: createWebhookBody,
  update: updateWebhookBody,
  notes: { create: notes, update: notes },
  examples: {
    id: 'wh_01a1fbc63aa470d6877cf556d6121edd',
    create: {
      'For budgets': {
        url: 'https://hooks.example.com/gatehouse',
        events: ['budget.threshold', 'budget.exhausted'],
      },
    },
    update: { 'Not now': { active: false } },
  },
} satisfies ResourceDescription

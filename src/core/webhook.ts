/** Webhooks: addresses to which an account's events are sent. */
import { type AccountId, createId } from './ids.ts'

export const WEBHOOK_EVENTS = [
  'budget.threshold',
  'budget.exhausted',
  'fuse.blown',
  'provider.degraded',
  'target.unusable',
  'token.expiring',
  'store.set-back',
  'redis.other',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

export interface Webhook {
  readonly accountId: AccountId
  readonly id: string
  readonly url: string
  /** Encrypted; only the sender decrypts it. */
  readonly sealedSecret: string
  readonly events: readonly WebhookEvent[]
  readonly isActive: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export interface WebhookDelivery {
  /** The same in every attempt, so a receiver can detect a repetition. */
  readonly id: string
  readonly accountId: AccountId
  readonly webhookId: string
  /** A `WebhookEvent`, or `webhook.test`. */
  readonly event: string
  /** JSON, byte-identical in every attempt. */
  readonly body: string
  readonly attempts: number
  readonly nextAttemptAt: number
  readonly createdAt: number
}

export function createWebhookId(): string {
  return createId('wh')
}

export function createDeliveryId(): string {
  return createId('evt')
}

export function secretBinding(webhook: {
  readonly accountId: AccountId
  readonly id: string
}): string {
  return `webhook/${webhook.accountId}/${webhook.id}`
}

export function toPublicWebhook(webhook: Omit<Webhook, 'sealedSecret'>) {
  return {
    id: webhook.id,
    url: webhook.url,
    events: [...webhook.events],
    active: webhook.isActive,
    createdAt: new Date(webhook.createdAt).toISOString(),
    updatedAt: new Date(webhook.updatedAt).toISOString(),
  }
}

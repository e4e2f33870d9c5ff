/** The events of webhooks, in words. */
import type { RowOf } from '../../api/ask.ts'

export type Webhook = RowOf<'GET /v1/webhooks'>
export type WebhookEvent = Webhook['events'][number]

export const EVENT_WORDS = {
  'budget.threshold': 'A budget has reached one of its percents',
  'budget.exhausted': 'A budget is used up: calls are refused',
  'provider.degraded': 'A provider keeps failing: calls are sent elsewhere',
  'target.unusable': 'A target has no credit or its model is gone: somebody has to act',
  'store.set-back': 'The database was set back in time (sent to the account of the operator)',
  'redis.other': 'Redis is another installation’s (sent to the account of the operator)',
} as const satisfies Record<WebhookEvent, string>

export const EVENTS = Object.keys(EVENT_WORDS) as readonly WebhookEvent[]

/**
 * Sends the queued deliveries: at least once each, with retries over about a day. The queue
 * survives the process.
 */
import { createHmac } from 'node:crypto'
import { systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { withJitter } from '../core/retry-delay.ts'
import type { Secret } from '../core/secret.ts'
import { createDeliveryId, type Webhook, type WebhookDelivery } from '../core/webhook.ts'
import type { WebhookTableStore } from '../store/resources/webhooks.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

const TIMEOUT_MS = 5_000

interface Post {
  readonly url: string
  readonly secret: Secret
  readonly deliveryId: string
  readonly event: string
  readonly body: string
  readonly nowMs: number
  readonly signal?: AbortSignal
}

export interface PostOutcome {
  readonly delivered: boolean
  /** Null without an answer. */
  readonly status: number | null
  /** In a few words, without anything from the answer. */
  readonly detail: string
}

/** Never rejects. Redirects are refused, because they may lead anywhere. */
async function postDelivery(post: Post, addresses: AddressPolicy): Promise<PostOutcome> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const { url, host, serverName, isDirect } = await addresses.locate(post.url)
    const response = await fetch(url, {
      method: 'POST',
      decompress: false,
      redirect: 'manual',
      headers: {
        ...(host === undefined ? {} : { host }),
        'content-type': 'application/json',
        'user-agent': 'gatehouse-webhooks',
        'x-gatehouse-event': post.event,
        'x-gatehouse-delivery': post.deliveryId,
        ...signatures(post),
      },
      body: post.body,
      ...(serverName === undefined ? {} : { tls: { serverName } }),
      // The runtime would compare NO_PROXY with the IP address instead of the name.
      ...(isDirect === true ? { proxy: false } : {}),
      signal: post.signal === undefined ? timeout : AbortSignal.any([timeout, post.signal]),
    })
    // Cancelled unread, because the body may be long.
    await response.body?.cancel().catch(() => {})
    const { status } = response
    const delivered = status >= 200 && status <= 299
    const isRedirect = status >= 300 && status <= 399
    return {
      delivered,
      status,
      detail: isRedirect ? 'redirects are refused' : `answered ${status}`,
    }
  } catch (error) {
    return { delivered: false, status: null, detail: describe(error, timeout) }
  }
}

function describe(error: unknown, timeout: AbortSignal): string {
  if (timeout.aborted) return `did not answer within ${TIMEOUT_MS / 1000} s`
  if (error instanceof Error && error.name === 'AddressRefusedError')
    return `the address ${error.message}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  return `could not be reached (${code})`
}

/**
 * The gateway's own signature, and the signatures of Standard Webhooks
 * (https://www.standardwebhooks.com), which libraries verify. The time is signed, so that a
 * receiver can refuse a recorded delivery that is sent again later.
 */
function signatures({ body, secret, nowMs, deliveryId }: Post): Record<string, string> {
  const seconds = String(Math.floor(nowMs / 1000))
  const own = createHmac('sha256', secret.reveal()).update(`${seconds}.${body}`)
  const standard = createHmac('sha256', standardKey(secret))
  return {
    'x-gatehouse-signature': `t=${seconds},v1=${own.digest('hex')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard.update(`${deliveryId}.${seconds}.${body}`).digest('base64')}`,
  }
}

/** Decoding invalid base64 would lose a part of the secret, so invalid base64 is used as text. */
function standardKey(secret: Secret): string | Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.reveal()) ?? []
  return base64 === undefined ? secret.reveal() : Buffer.from(base64, 'base64')
}

/** A checked destination to connect to. */
interface Destination {
  readonly url: string
  /** For the header `host`, when the URL contains an IP address instead of the name. */
  readonly host: string | undefined
  /** The name that the certificate must have, if not the URL's host. */
  readonly serverName: string | undefined
  readonly isDirect?: boolean
}

/**
 * The rules for customers' addresses. Both methods reject with an `AddressRefusedError` that gives
 * the reason.
 */
export interface AddressPolicy {
  check(address: string): Promise<unknown>
  locate(address: string): Promise<Destination>
}

export type CheckAddress = AddressPolicy['check']

const AT_ONCE = 32
/** Limits an account whose receivers do not answer, so that other accounts' deliveries continue. */
const AT_ONCE_OF_ACCOUNT = 4
/** The longest delay of the next check, even if a clock was set back or the store fails. */
const LONGEST_SLEEP_MS = 60_000
const STORE_RETRY_MS = 5_000
/** Only a clock that was far ahead sets a later time. */
const FARTHEST_MS = 2 * 86_400_000
/** How long a delivery in progress belongs to this node: far longer than an attempt takes. */
const CLAIM_MS = 30_000

export type SenderEvent =
  | {
      readonly type: 'given-up'
      readonly webhookId: string
      readonly event: string
      readonly detail: string
    }
  | { readonly type: 'store-failed'; readonly cause: unknown }

interface WebhookSenderOptions {
  readonly queue: Pick<WebhookTableStore, 'listNext' | 'claim' | 'reschedule' | 'removeDelivery'>
  readonly webhooks: Pick<WebhookRegistry, 'find' | 'openSecret'>
  readonly addresses: AddressPolicy
  readonly report?: (event: SenderEvent) => void
  readonly schedule?: RetrySchedule
}

export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #schedule: RetrySchedule
  readonly #report: (event: SenderEvent) => void
  readonly #underWay = new Map<
    string,
    { readonly accountId: AccountId; readonly end: Promise<void> }
  >()
  readonly #ending = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #looking: Promise<void> | undefined
  #looksAgain = false

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#schedule = options.schedule ?? createRetrySchedule()
    this.#report = options.report ?? (() => {})
  }

  /** Checks the queue at start, and after a delivery was queued. */
  wake(): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    if (this.#looking !== undefined) {
      this.#looksAgain = true
      return
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (!this.#looksAgain) return
      this.#looksAgain = false
      this.wake()
    })
  }

  async sendTest(webhook: Webhook): Promise<PostOutcome> {
    const nowMs = systemClock.now()
    const createdAt = new Date(nowMs).toISOString()
    const data = { webhookId: webhook.id }
    const body = JSON.stringify({ id: createDeliveryId(), type: 'webhook.test', createdAt, data })
    return await this.#post(webhook, { id: createDeliveryId(), event: 'webhook.test', body })
  }

  /** Cuts deliveries in progress, which are sent again after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#timer)
    await this.#looking
    await Promise.all(Array.from(this.#underWay.values(), ({ end }) => end))
  }

  async #look(): Promise<void> {
    let sleepMs: number | undefined
    try {
      let isOneFull: boolean
      do {
        const next = await this.#options.queue.listNext(2 * AT_ONCE, this.#fullAccounts())
        ;({ sleepMs, isOneFull } = this.#beginDue(next))
        // The account's other deliveries hide the deliveries of other accounts in the queue.
      } while (isOneFull)
    } catch (cause) {
      this.#report({ type: 'store-failed', cause })
      sleepMs = withJitter(STORE_RETRY_MS)
    }
    if (sleepMs === undefined || this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), sleepMs)
    this.#timer.unref()
  }

  #beginDue(next: readonly WebhookDelivery[]) {
    let sleepMs: number | undefined
    let isOneFull = false
    const nowMs = systemClock.now()
    for (const delivery of next) {
      if (this.#underWay.has(delivery.id)) continue
      const waitMs = delivery.nextAttemptAt - nowMs
      if (waitMs > 0 && waitMs < FARTHEST_MS) {
        sleepMs ??= Math.min(LONGEST_SLEEP_MS, waitMs)
        continue
      }
      // The end of a delivery triggers another check.
      if (this.#underWay.size >= AT_ONCE || this.#ending.signal.aborted)
        return { sleepMs, isOneFull: false }
      if (this.#fullAccounts().includes(delivery.accountId)) isOneFull = true
      else this.#begin(delivery)
    }
    return { sleepMs, isOneFull }
  }

  #fullAccounts(): AccountId[] {
    const counts = new Map<AccountId, number>()
    for (const { accountId } of this.#underWay.values())
      counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
    return [...counts.keys()].filter((id) => (counts.get(id) ?? 0) >= AT_ONCE_OF_ACCOUNT)
  }

  #begin(delivery: WebhookDelivery): void {
    const end = this.#attempt(delivery)
      .catch(async (cause: unknown) => {
        this.#report({ type: 'store-failed', cause })
        // The delivery is still queued and due: the pause avoids a loop that calls the store and
        // the receiver repeatedly.
        await pause(withJitter(STORE_RETRY_MS), this.#ending.signal)
      })
      .finally(() => {
        this.#underWay.delete(delivery.id)
        this.wake()
      })
    this.#underWay.set(delivery.id, { accountId: delivery.accountId, end })
  }

  async #attempt(delivery: WebhookDelivery): Promise<void> {
    const { queue, webhooks } = this.#options
    if (!(await queue.claim(delivery, systemClock.now() + CLAIM_MS))) return
    const webhook = webhooks.find(delivery.accountId, delivery.webhookId)
    // The webhook was deleted or switched off meanwhile, so its deliveries are removed.
    if (webhook === undefined || !webhook.isActive) return await queue.removeDelivery(delivery)
    const outcome = await this.#post(webhook, delivery)
    if (outcome.delivered) return await queue.removeDelivery(delivery)
    // An interrupted delivery returns to the queue unchanged, for the next check.
    if (this.#ending.signal.aborted) return await queue.reschedule(delivery)
    const attempts = delivery.attempts + 1
    const delayMs = this.#schedule.delayMs(attempts)
    if (delayMs !== undefined)
      return await queue.reschedule({
        ...delivery,
        attempts,
        nextAttemptAt: systemClock.now() + delayMs,
      })
    await queue.removeDelivery(delivery)
    const { webhookId, event } = delivery
    this.#report({ type: 'given-up', webhookId, event, detail: outcome.detail })
  }

  async #post(
    webhook: Webhook,
    delivery: Pick<WebhookDelivery, 'id' | 'event' | 'body'>,
  ): Promise<PostOutcome> {
    let secret: ReturnType<WebhookRegistry['openSecret']>
    try {
      secret = this.#options.webhooks.openSecret(webhook)
    } catch {
      return {
        delivered: false,
        status: null,
        detail: 'its secret cannot be decrypted with this master key',
      }
    }
    const { id: deliveryId, event, body } = delivery
    const { signal } = this.#ending
    const nowMs = systemClock.now()
    return await postDelivery(
      { url: webhook.url, secret, deliveryId, event, body, nowMs, signal },
      this.#options.addresses,
    )
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    timer.unref()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * A failed delivery is retried after 10 s, 35 s, 2 min, 7 min, 25 min, 1.5 h, 5 h, 18 h: about a
 * day in all.
 */
const RETRIES = 8
const FIRST_RETRY_MS = 10_000
const FACTOR = 3.5
/** Receivers that were down together are not called at the same time. */
const JITTER = 0.2

interface RetrySchedule {
  /** Milliseconds to wait after this many failed attempts; undefined to give up. */
  delayMs(failedAttempts: number): number | undefined
}

export function createRetrySchedule(
  options: { readonly firstRetryMs?: number; readonly random?: () => number } = {},
): RetrySchedule {
  const { firstRetryMs = FIRST_RETRY_MS, random = Math.random } = options
  return {
    delayMs(failedAttempts) {
      if (failedAttempts > RETRIES) return undefined
      return Math.round(
        firstRetryMs * FACTOR ** (failedAttempts - 1) * (1 + JITTER * (2 * random() - 1)),
      )
    },
  }
}

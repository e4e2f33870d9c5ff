/**
 * Puts events into the queue of every webhook that wants them, without ever holding up whoever
 * reports one.
 */
import { systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { createDeliveryId, type WebhookDelivery, type WebhookEvent } from '../core/webhook.ts'
import type { AlertMark, WebhookTableStore } from '../store/resources/webhooks.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

/**
 * More than that on its way for one account means that its receivers are gone: further events are
 * dropped.
 */
const MAX_QUEUED = 1_000
/** Events that wait for a store which cannot be written. */
const MAX_WAITING = 1_000
const RETRY_MS = 5_000

export interface EventPublisherOptions {
  readonly webhooks: Pick<WebhookRegistry, 'list'>
  readonly queue: Pick<WebhookTableStore, 'enqueue' | 'countDeliveries'>
  /** Called when something new is in the queue. */
  readonly onQueued: () => void
  /** Called with events that were dropped, and why. */
  readonly onDropped: (
    event: WebhookEvent,
    reason: 'queue full' | 'store failing',
    cause?: unknown,
  ) => void
}

export interface PublishedEvent {
  readonly accountId: AccountId
  readonly type: WebhookEvent
  readonly data: Readonly<Record<string, unknown>>
  /** The mark of an event that must go out only once. */
  readonly mark?: AlertMark
}

export class EventPublisher {
  readonly #options: EventPublisherOptions
  readonly #waiting: { readonly event: PublishedEvent; readonly createdAtMs: number }[] = []
  #draining: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(options: EventPublisherOptions) {
    this.#options = options
  }

  /** Returns at once. */
  publish(event: PublishedEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#options.onDropped(event.type, 'store failing')
      return
    }
    this.#waiting.push({ event, createdAtMs: systemClock.now() })
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
  }

  /** Resolves when everything that was published is in the queue, or the store has failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#draining
  }

  async #drain(): Promise<void> {
    // Not within the turn of the call that is being settled.
    await new Promise((resolve) => setImmediate(resolve))
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await this.#enqueue(next.event, next.createdAtMs)
        this.#waiting.shift()
      } catch (cause) {
        if (this.#isClosed) {
          this.#options.onDropped(next.event.type, 'store failing', cause)
          return
        }
        await new Promise<void>((resolve) => {
          this.#timer = setTimeout(resolve, RETRY_MS)
          this.#timer.unref()
        })
      }
    }
  }

  async #enqueue(
    { accountId, type, data, mark }: PublishedEvent,
    createdAtMs: number,
  ): Promise<void> {
    const { webhooks, queue } = this.#options
    const wanting = webhooks
      .list(accountId)
      .filter((hook) => hook.isActive && hook.events.includes(type))
    const isFull = wanting.length > 0 && (await queue.countDeliveries(accountId)) >= MAX_QUEUED
    if (isFull) this.#options.onDropped(type, 'queue full')
    const createdAt = new Date(createdAtMs).toISOString()
    const body = JSON.stringify({ id: createDeliveryId(), type, createdAt, data })
    const deliveries = (isFull ? [] : wanting).map(
      (hook): WebhookDelivery => ({
        id: createDeliveryId(),
        accountId,
        webhookId: hook.id,
        event: type,
        body,
        attempts: 0,
        nextAttemptAt: createdAtMs,
        createdAt: createdAtMs,
      }),
    )
    if (deliveries.length === 0 && mark === undefined) return
    if (await queue.enqueue(deliveries, mark)) this.#options.onQueued()
  }
}

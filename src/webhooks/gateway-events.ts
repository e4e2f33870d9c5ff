/** Creates webhook events from the gateway's own reports, and limits their frequency. */
import { type Budget, toPublicScope } from '../core/budget.ts'
import { type Stopwatch, systemClock } from '../core/clock.ts'
import type { TargetFault } from '../core/errors.ts'
import type { BlownFuse } from '../core/fuse.ts'
import { type AccountId, DEFAULT_ACCOUNT, isMemberId } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import { createDeliveryId, type WebhookDelivery, type WebhookEvent } from '../core/webhook.ts'
import type { AlertMark, TokenEndMark, WebhookTableStore } from '../store/resources/webhooks.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

/** A failing target opens its breaker repeatedly; an event in this time is enough. */
const DEGRADED_PAUSE_MS = 600_000
const MAX_REMEMBERED = 10_000
/** A target that stays unusable is reported again after a day. */
const UNUSABLE_PAUSE_MS = 86_400_000

interface ReachedShare {
  readonly budget: Budget
  readonly threshold: number
  readonly periodStartsAtMs: number
  readonly periodEndsAtMs: number
  readonly used: number
  /** In the budget's unit, with a raise. */
  readonly limit: number
}

export function toBudgetEvent(share: ReachedShare): PublishedEvent {
  const { budget, threshold, used, periodStartsAtMs, periodEndsAtMs } = share
  const { accountId, id, name, scope, limit, period } = budget
  const inUnit = (amount: number) => (limit.type === 'tokens' ? amount : toUsd(amount))
  const resetsAt = Number.isFinite(periodEndsAtMs) ? new Date(periodEndsAtMs).toISOString() : null
  return {
    accountId,
    type: threshold >= 1 ? 'budget.exhausted' : 'budget.threshold',
    data: {
      budgetId: id,
      name,
      ...toPublicScope(scope),
      threshold,
      unit: limit.type === 'tokens' ? 'tokens' : 'usd',
      limit: inUnit(share.limit),
      used: inUnit(used),
      period,
      periodStartsAt: new Date(periodStartsAtMs).toISOString(),
      resetsAt,
    },
    mark: {
      ...{ accountId, budgetId: id, periodStartsAtMs, threshold },
      budgetUpdatedAtMs: budget.updatedAt,
    },
  }
}

/** @param told `name` of a user; null: not known, or hidden from callers of the account */
export function toFuseEvent(
  { accountId, owner, kind, id, keyId, cause }: BlownFuse,
  told: { readonly blownAtMs: number; readonly name: string | null },
): PublishedEvent {
  return {
    accountId,
    type: 'fuse.blown',
    data: {
      accountId,
      gateId: owner.type === 'gate' ? owner.id : null,
      budgetId: owner.type === 'budget' ? owner.id : null,
      ...{ kind, id, name: told.name, cause },
      // A call from the playground has the member's id in the key's place.
      keyId: isMemberId(keyId) ? null : keyId,
      fuse: owner.fuse,
      blownAt: new Date(told.blownAtMs).toISOString(),
    },
  }
}

/** Sent to the operator's account, because the event concerns every account. */
export function toSetBackEvent(setBack: {
  readonly from: number
  readonly to: number
}): PublishedEvent {
  return {
    accountId: DEFAULT_ACCOUNT,
    type: 'store.set-back',
    data: { fromChange: setBack.from, toChange: setBack.to },
  }
}

/** Sent to the operator's account, like events of the store. */
export function toOtherRedisEvent(ids: {
  readonly found: string
  readonly expected: string
}): PublishedEvent {
  return {
    accountId: DEFAULT_ACCOUNT,
    type: 'redis.other',
    data: { found: ids.found, expected: ids.expected },
  }
}

export class DegradedTargets {
  readonly #publisher: Pick<EventPublisher, 'publish'>
  readonly #clock: Stopwatch
  readonly #toldAtMs = new Map<string, number>()

  constructor(publisher: Pick<EventPublisher, 'publish'>, clock: Stopwatch = systemClock) {
    this.#publisher = publisher
    this.#clock = clock
  }

  /** @param target `provider/model` */
  note(accountId: AccountId, target: string, restsUntilMs: number): void {
    const nowMs = this.#clock.elapsed()
    const key = `${accountId}\n${target}`
    const toldAtMs = this.#toldAtMs.get(key)
    if (toldAtMs !== undefined && nowMs - toldAtMs < DEGRADED_PAUSE_MS) return
    // Reinserted at the end, so that the oldest entry is first.
    this.#toldAtMs.delete(key)
    this.#toldAtMs.set(key, nowMs)
    const [oldest] = this.#toldAtMs.keys()
    if (this.#toldAtMs.size > MAX_REMEMBERED && oldest !== undefined) this.#toldAtMs.delete(oldest)
    this.#publisher.publish({
      accountId,
      type: 'provider.degraded',
      data: { target, restsUntil: new Date(restsUntilMs).toISOString() },
    })
  }
}

export interface UnusableTarget {
  readonly accountId: AccountId
  readonly target: string
  readonly owner: 'account' | 'platform'
  readonly reason: TargetFault
  /** The provider's status. */
  readonly status: number | null
}

/**
 * Reports that a target fails until a person acts: once per reason until the target answers, or a
 * day passes. Missing credit on the platform's credential is reported to the operator's account,
 * everything else to the gate's account.
 */
export class UnusableTargets {
  readonly #publisher: Pick<EventPublisher, 'publish'>
  readonly #clock: Stopwatch
  readonly #onTold: (unusable: UnusableTarget) => void
  /** By account and target: when each reason was reported. The oldest target is first. */
  readonly #told = new Map<string, Map<TargetFault, number>>()

  /** @param onTold called for each report, for the log */
  constructor(
    publisher: Pick<EventPublisher, 'publish'>,
    onTold: (unusable: UnusableTarget) => void = () => {},
    clock: Stopwatch = systemClock,
  ) {
    this.#publisher = publisher
    this.#onTold = onTold
    this.#clock = clock
  }

  note(unusable: UnusableTarget): void {
    const { target, reason, status } = unusable
    const accountId = listenerOf(unusable)
    const key = `${accountId}\n${target}`
    const reasons = this.#told.get(key) ?? new Map<TargetFault, number>()
    const nowMs = this.#clock.elapsed()
    const toldAtMs = reasons.get(reason)
    if (toldAtMs !== undefined && nowMs - toldAtMs < UNUSABLE_PAUSE_MS) return
    reasons.set(reason, nowMs)
    this.#told.delete(key)
    this.#told.set(key, reasons)
    const [oldest] = this.#told.keys()
    if (this.#told.size > MAX_REMEMBERED && oldest !== undefined) this.#told.delete(oldest)
    this.#publisher.publish({
      accountId,
      type: 'target.unusable',
      data: { target, reason, status },
    })
    this.#onTold(unusable)
  }

  /** Called for each answer. */
  noteUsable(accountId: AccountId, target: string): void {
    if (this.#told.size === 0) return
    this.#told.delete(`${accountId}\n${target}`)
    this.#told.delete(`${DEFAULT_ACCOUNT}\n${target}`)
  }
}

function listenerOf({ accountId, owner, reason }: UnusableTarget): AccountId {
  return owner === 'platform' && reason === 'out_of_credit' ? DEFAULT_ACCOUNT : accountId
}

/**
 * More queued deliveries for an account mean that its receivers are gone; further events are
 * dropped.
 */
export const MAX_QUEUED = 1_000
/** Events waiting for a store that cannot be written. */
const MAX_WAITING = 1_000
const RETRY_MS = 5_000

interface EventPublisherOptions {
  readonly webhooks: Pick<WebhookRegistry, 'list'>
  readonly queue: Pick<WebhookTableStore, 'enqueue' | 'countDeliveries'>
  /** Called when the queue has a new delivery. */
  readonly onQueued: () => void
  /** Called for dropped events, with the reason. */
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
  /** The mark of an event that must be sent only once. */
  readonly mark?: AlertMark | TokenEndMark
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

  /** Resolves when every published event is in the queue, or the store has failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#draining
  }

  async #drain(): Promise<void> {
    // Waits for the next step of the event loop, so that settling the call is not delayed.
    await new Promise((resolve) => setImmediate(resolve))
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await this.enqueue(next.event, next.createdAtMs)
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

  /** Like `publish`, but rejects when the store fails. */
  async enqueue(
    { accountId, type, data, mark }: PublishedEvent,
    createdAtMs = systemClock.now(),
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

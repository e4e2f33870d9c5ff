/**
 * Joins the parts that tell customers of events. Does not send by itself: whoever composes wakes
 * the sender.
 */
import { ownedSlugOf } from '../core/owned-model.ts'
import type { Vault } from '../core/vault.ts'
import type { BudgetAlert } from '../limits/usage-counter.ts'
import type { Store } from '../store/open-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { AddressPolicy } from '../webhooks/check-address.ts'
import { EventPublisher } from '../webhooks/event-publisher.ts'
import {
  DegradedTargets,
  toBudgetEvent,
  toOtherRedisEvent,
  toSetBackEvent,
  type UnusableTarget,
  UnusableTargets,
} from '../webhooks/gateway-events.ts'
import { WebhookRegistry } from '../webhooks/webhook-registry.ts'
import { WebhookSender } from '../webhooks/webhook-sender.ts'

export interface Webhooks {
  readonly registry: WebhookRegistry
  readonly sender: WebhookSender
  readonly degraded: DegradedTargets
  readonly unusable: UnusableTargets
  publishBudgetAlert(alert: BudgetAlert): void
  publishSetBack(setBack: { readonly from: number; readonly to: number }): void
  /** Ids of installations. */
  publishOtherRedis(ids: { readonly found: string; readonly expected: string }): void
  /**
   * The queue keeps published events, and deliveries under way are cut: the next start sends them.
   */
  close(): Promise<void>
}

export interface WebhooksOptions {
  readonly store: Store
  readonly vault: Vault
  readonly log: Log
  readonly addresses: AddressPolicy
}

export async function composeWebhooks({
  store,
  vault,
  log,
  addresses,
}: WebhooksOptions): Promise<Webhooks> {
  const registry = await WebhookRegistry.load({ webhooks: store.webhooks, vault })
  const sender = new WebhookSender({
    queue: store.webhooks,
    webhooks: registry,
    addresses,
    report: (event) =>
      event.type === 'given-up'
        ? log.warn({ ...event }, 'webhooks: a delivery was given up')
        : log.error({ err: event.cause }, 'webhooks: the queue could not be read or written'),
  })
  const publisher = new EventPublisher({
    webhooks: registry,
    queue: store.webhooks,
    onQueued: () => sender.wake(),
    onDropped: (event, reason, cause) =>
      log.error({ event, reason, err: cause }, 'webhooks: an event was dropped'),
  })
  return {
    registry,
    sender,
    degraded: new DegradedTargets(publisher),
    unusable: new UnusableTargets(publisher, (unusable) => reportUnusable(log, unusable)),
    publishBudgetAlert: (alert) => publisher.publish(toBudgetEvent(alert)),
    publishSetBack: (setBack) => publisher.publish(toSetBackEvent(setBack)),
    publishOtherRedis: (ids) => publisher.publish(toOtherRedisEvent(ids)),
    async close() {
      await publisher.close()
      await sender.stop()
    },
  }
}

/** Models that an account owns are its own affair. */
function reportUnusable(log: Pick<Log, 'warn'>, { target, reason, status, owner }: UnusableTarget) {
  if (ownedSlugOf(target) !== undefined) return
  const credential = owner === 'platform' ? 'platform' : 'own'
  log.warn(
    { target, reason, status, credential },
    reason === 'out_of_credit'
      ? 'the account at the vendor has no credit: calls go to the next target of their gates'
      : 'the vendor does not know the model any more: calls go to the next target of their gates',
  )
}

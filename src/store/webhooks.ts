/** Webhooks and what is on its way to them, in the database. Secrets come encrypted and stay so. */
import type { Kysely, Selectable } from 'kysely'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../core/account-caps.ts'
import type { AccountId } from '../core/ids.ts'
import {
  toPublicWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookEvent,
} from '../core/webhook.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { findSome, type NamedThing } from './find-some.ts'
import { insertWithinCap } from './insert-within-cap.ts'
import type { Schema, WebhookDeliveryTable, WebhookTable } from './schema.ts'

/** That a budget's share was reached: kept, so that it is told once a period. */
export interface AlertMark {
  readonly accountId: AccountId
  readonly budgetId: string
  readonly periodStartsAtMs: number
  readonly threshold: number
}

export class WebhookTableStore {
  readonly #database: Kysely<Schema>
  readonly #caps: AccountCaps

  constructor(database: Kysely<Schema>, caps: AccountCaps = DEFAULT_ACCOUNT_CAPS) {
    this.#database = database
    this.#caps = caps
  }

  /** Every webhook of every account, for the snapshot at start. */
  async loadAll(): Promise<Webhook[]> {
    const rows = await this.#database.selectFrom('webhooks').selectAll().execute()
    return rows.map(toWebhook)
  }

  /** One for each that is asked for; undefined where there is none. */
  findSome(things: readonly NamedThing[]): Promise<readonly (Webhook | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'webhooks', idColumn: 'id', toStored: toWebhook },
      things,
    )
  }

  /** @throws GatewayError `conflict` when the account has too many */
  async insert(webhook: Webhook): Promise<void> {
    const { accountId } = webhook
    const capped = { thing: 'webhooks', accountId, caps: this.#caps } as const
    await insertWithinCap(this.#database, capped, async (transaction) => {
      await transaction
        .insertInto('webhooks')
        .values({
          id: webhook.id,
          account_id: webhook.accountId,
          sealed_secret: webhook.sealedSecret,
          created_at: webhook.createdAt,
          ...toMutableColumns(webhook),
        })
        .execute()
      await recordChange(transaction, {
        accountId,
        action: 'webhook.create',
        resourceId: webhook.id,
        before: null,
        after: toPublicWebhook(webhook),
      })
      return true
    })
  }

  /**
   * Writes everything about a webhook that may change; its secret only when it is a new one, since what is stored may have
   * been sealed anew under another master key meanwhile.
   */
  async save(webhook: Webhook, change: { readonly isSecretNew: boolean }): Promise<void> {
    await changeAccount(this.#database, webhook.accountId, async (transaction) => {
      const previous = await find(transaction, webhook.accountId, webhook.id)
      if (previous === undefined) return
      await transaction
        .updateTable('webhooks')
        .set({
          ...toMutableColumns(webhook),
          ...(change.isSecretNew ? { sealed_secret: webhook.sealedSecret } : {}),
        })
        .where('account_id', '=', webhook.accountId)
        .where('id', '=', webhook.id)
        .execute()
      await recordChange(transaction, {
        accountId: webhook.accountId,
        action: 'webhook.update',
        resourceId: webhook.id,
        before: toPublicWebhook(previous),
        after: toPublicWebhook(webhook),
      })
    })
  }

  /** With everything that is on its way to it. */
  async delete(accountId: AccountId, id: string): Promise<void> {
    await changeAccount(this.#database, accountId, async (transaction) => {
      const previous = await find(transaction, accountId, id)
      if (previous === undefined) return
      await transaction
        .deleteFrom('webhooks')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .execute()
      await transaction
        .deleteFrom('webhook_deliveries')
        .where('account_id', '=', accountId)
        .where('webhook_id', '=', id)
        .execute()
      const before = toPublicWebhook(previous)
      await recordChange(transaction, {
        accountId,
        action: 'webhook.delete',
        resourceId: id,
        before,
        after: null,
      })
    })
  }

  /**
   * Puts deliveries into the queue, all or none. @param mark when it is there already, nothing is put: it was told before
   * @returns whether they were put
   */
  async enqueue(deliveries: readonly WebhookDelivery[], mark?: AlertMark): Promise<boolean> {
    return await this.#database.transaction().execute(async (transaction) => {
      if (mark !== undefined) {
        const result = await transaction
          .insertInto('budget_alerts')
          .values({
            budget_id: mark.budgetId,
            account_id: mark.accountId,
            period_starts_at: mark.periodStartsAtMs,
            threshold_millionths: Math.round(mark.threshold * 1_000_000),
            created_at: Date.now(),
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        if (Number(result.numInsertedOrUpdatedRows ?? 0) === 0) return false
      }
      if (deliveries.length > 0)
        await transaction
          .insertInto('webhook_deliveries')
          .values(deliveries.map(toDeliveryRow))
          .execute()
      return true
    })
  }

  async countDeliveries(accountId: AccountId): Promise<number> {
    const row = await this.#database
      .selectFrom('webhook_deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  /** The next to be sent of all accounts, the one that is due first in front, whether due or not yet. */
  async listNext(limit: number): Promise<WebhookDelivery[]> {
    const rows = await this.#database
      .selectFrom('webhook_deliveries')
      .selectAll()
      .orderBy('next_attempt_at')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(toDelivery)
  }

  /**
   * Takes a delivery out of the others' sight for a while, so that of several nodes that see it due one sends it. Whoever
   * ends before it is sent or rescheduled leaves it to all of them after that time.
   * @param delivery as `listNext` gave it @param untilMs since the Unix epoch
   * @returns false when somebody else has taken it, put it off or removed it meanwhile
   */
  async claim(delivery: WebhookDelivery, untilMs: number): Promise<boolean> {
    const result = await this.#database
      .updateTable('webhook_deliveries')
      .set({ next_attempt_at: untilMs })
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .where('next_attempt_at', '=', delivery.nextAttemptAt)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }

  async reschedule(delivery: WebhookDelivery): Promise<void> {
    await this.#database
      .updateTable('webhook_deliveries')
      .set({ attempts: delivery.attempts, next_attempt_at: delivery.nextAttemptAt })
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .execute()
  }

  /** Delivered, or given up. */
  async removeDelivery(delivery: WebhookDelivery): Promise<void> {
    await this.#database
      .deleteFrom('webhook_deliveries')
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .execute()
  }
}

async function find(
  database: Kysely<Schema>,
  accountId: AccountId,
  id: string,
): Promise<Webhook | undefined> {
  const row = await database
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined ? undefined : toWebhook(row)
}

function toMutableColumns(webhook: Webhook) {
  return {
    url: webhook.url,
    events: JSON.stringify(webhook.events),
    active: webhook.isActive ? 1 : 0,
    updated_at: webhook.updatedAt,
  }
}

function toWebhook(row: Selectable<WebhookTable>): Webhook {
  return {
    accountId: row.account_id,
    id: row.id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    events: JSON.parse(row.events) as WebhookEvent[],
    isActive: row.active === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function toDeliveryRow(delivery: WebhookDelivery): WebhookDeliveryTable {
  return {
    id: delivery.id,
    account_id: delivery.accountId,
    webhook_id: delivery.webhookId,
    event: delivery.event,
    body: delivery.body,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt,
    created_at: delivery.createdAt,
  }
}

function toDelivery(row: Selectable<WebhookDeliveryTable>): WebhookDelivery {
  return {
    id: row.id,
    accountId: row.account_id,
    webhookId: row.webhook_id,
    event: row.event,
    body: row.body,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
  }
}

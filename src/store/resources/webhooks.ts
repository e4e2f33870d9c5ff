/** Webhooks and their queued deliveries in the database, with encrypted secrets. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { AccountId, KeyId } from '../../core/ids.ts'
import type { AccountCaps } from '../../core/plan.ts'
import {
  toPublicWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookEvent,
} from '../../core/webhook.ts'
import { lockAccount } from '../changes/change-account.ts'
import type { Schema, WebhookDeliveryTable, WebhookTable } from '../schema.ts'
import { ResourceStore, type StoredKind } from './resource-store.ts'

/**
 * A reached share of a budget's limit. The mark is stored, so that its event is sent once per
 * period, and again after a change of the limit.
 */
export interface AlertMark {
  readonly accountId: AccountId
  readonly budgetId: string
  readonly periodStartsAtMs: number
  readonly threshold: number
  /** The version of the compared budget: an alert for an older version is stale. */
  readonly budgetUpdatedAtMs: number
}

/** The end of an access token. The mark is stored, so that its event is sent once for each end. */
export interface TokenEndMark {
  readonly accountId: AccountId
  readonly tokenId: KeyId
  readonly expiresAtMs: number
}

/**
 * A secret is written only when it is new, because a rotation of the master key may have
 * re-encrypted the stored secret.
 */
type ChangedWebhook = Omit<Webhook, 'sealedSecret'> & { readonly sealedSecret?: string | undefined }

const webhookKind: StoredKind<'webhook', ChangedWebhook, Webhook> = {
  word: 'webhook',
  idColumn: 'id',
  mayClash: false,
  nameOf: (webhook) => webhook,
  toRow: (webhook) => ({
    id: webhook.id,
    account_id: webhook.accountId,
    sealed_secret: webhook.sealedSecret,
    created_at: webhook.createdAt,
    ...toMutableColumns(webhook),
  }),
  toChanges: (webhook) => ({
    ...toMutableColumns(webhook),
    ...(webhook.sealedSecret === undefined ? {} : { sealed_secret: webhook.sealedSecret }),
  }),
  createReader: () => toWebhook,
  toPublic: toPublicWebhook,
  async deleteBelongings(transaction, { accountId, id }) {
    await transaction
      .deleteFrom('webhook_deliveries')
      .where('account_id', '=', accountId)
      .where('webhook_id', '=', id)
      .execute()
  },
}

/** Deleting a webhook deletes its queued deliveries. */
export class WebhookTableStore extends ResourceStore<'webhook', ChangedWebhook, Webhook> {
  constructor(database: Kysely<Schema>, caps?: AccountCaps) {
    super(database, webhookKind, caps)
  }

  /**
   * Queues deliveries, all or none.
   * @param mark an existing mark, or a budget or token that has changed since, means that nothing
   * is queued
   * @returns whether the deliveries were queued
   */
  async enqueue(
    deliveries: readonly WebhookDelivery[],
    mark?: AlertMark | TokenEndMark,
  ): Promise<boolean> {
    return await this.database.transaction().execute(async (transaction) => {
      if (mark !== undefined && !(await setMark(transaction, mark))) return false
      if (deliveries.length > 0)
        await transaction
          .insertInto('webhook_deliveries')
          .values(deliveries.map(toDeliveryRow))
          .execute()
      return true
    })
  }

  async countDeliveries(accountId: AccountId): Promise<number> {
    const row = await this.database
      .selectFrom('webhook_deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  async listNext(limit: number, except: readonly AccountId[] = []): Promise<WebhookDelivery[]> {
    const rows = await this.database
      .selectFrom('webhook_deliveries')
      .selectAll()
      .$if(except.length > 0, (query) => query.where('account_id', 'not in', except))
      .orderBy('next_attempt_at')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(toDelivery)
  }

  /**
   * Hides a delivery from other nodes until a time, so that one node sends the delivery.
   * @param untilMs since the Unix epoch
   * @returns false when another node has claimed, rescheduled or removed the delivery meanwhile
   */
  async claim(delivery: WebhookDelivery, untilMs: number): Promise<boolean> {
    const result = await this.database
      .updateTable('webhook_deliveries')
      .set({ next_attempt_at: untilMs })
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .where('next_attempt_at', '=', delivery.nextAttemptAt)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }

  async reschedule(delivery: WebhookDelivery): Promise<void> {
    await this.database
      .updateTable('webhook_deliveries')
      .set({ attempts: delivery.attempts, next_attempt_at: delivery.nextAttemptAt })
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .execute()
  }

  async removeDelivery(delivery: WebhookDelivery): Promise<void> {
    await this.database
      .deleteFrom('webhook_deliveries')
      .where('account_id', '=', delivery.accountId)
      .where('id', '=', delivery.id)
      .execute()
  }
}

/** @returns false when the mark exists already or is stale */
async function setMark(
  transaction: Transaction<Schema>,
  mark: AlertMark | TokenEndMark,
): Promise<boolean> {
  if ('tokenId' in mark) {
    const { accountId, tokenId, expiresAtMs } = mark
    const announced = await transaction
      .updateTable('api_keys')
      .set({ announced_end: expiresAtMs })
      .where('account_id', '=', accountId)
      .where('id', '=', tokenId)
      .where('expires_at', '=', expiresAtMs)
      .where(({ or, eb }) =>
        or([eb('announced_end', 'is', null), eb('announced_end', '<>', expiresAtMs)]),
      )
      .executeTakeFirst()
    return Number(announced.numUpdatedRows) === 1
  }
  // A change of the budget deletes its marks, so mark and budget are checked while the account is
  // locked.
  await lockAccount(transaction, mark.accountId)
  if (await isStale(transaction, mark)) return false
  const inserted = await transaction
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
  return Number(inserted.numInsertedOrUpdatedRows ?? 0) === 1
}

async function isStale(
  transaction: Transaction<Schema>,
  { accountId, budgetId, budgetUpdatedAtMs }: AlertMark,
): Promise<boolean> {
  const budget = await transaction
    .selectFrom('budgets')
    .select('updated_at')
    .where('account_id', '=', accountId)
    .where('id', '=', budgetId)
    .executeTakeFirst()
  return budget !== undefined && budget.updated_at > budgetUpdatedAtMs
}

function toMutableColumns(webhook: ChangedWebhook) {
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

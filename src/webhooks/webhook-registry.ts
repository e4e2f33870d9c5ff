/** The webhooks of every account in memory, backed by the store. */
import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import type { Vault } from '../core/vault.ts'
import { createWebhookId, secretBinding, type Webhook, type WebhookEvent } from '../core/webhook.ts'
import {
  type ChangesOf,
  Registry,
  type RegistryOperation,
  withChanges,
} from '../snapshots/snapshot.ts'
import type { WebhookTableStore } from '../store/resources/webhooks.ts'

export interface WebhookRegistryOptions {
  readonly webhooks: Pick<WebhookTableStore, RegistryOperation>
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>
  readonly clock?: Clock
}

export interface NewWebhook {
  readonly url: string
  readonly secret?: Secret | undefined
  readonly events: readonly WebhookEvent[]
  readonly isActive: boolean
}

export type WebhookChanges = ChangesOf<NewWebhook>

export class WebhookRegistry extends Registry<Webhook> {
  readonly #store: WebhookRegistryOptions['webhooks']
  readonly #vault: WebhookRegistryOptions['vault']
  readonly #clock: Clock

  private constructor(options: WebhookRegistryOptions) {
    super(options.webhooks, 'webhook')
    this.#store = options.webhooks
    this.#vault = options.vault
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: WebhookRegistryOptions): Promise<WebhookRegistry> {
    const registry = new WebhookRegistry(options)
    await registry.followAll()
    return registry
  }

  /** How many active webhooks each account has for the event; accounts without any are left out. */
  countListeners(event: WebhookEvent): ReadonlyMap<AccountId, number> {
    const counts = new Map<AccountId, number>()
    for (const { accountId, isActive, events } of this.heldByAll())
      if (isActive && events.includes(event))
        counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
    return counts
  }

  openSecret(webhook: Webhook): Secret {
    return this.#vault.decrypt(webhook.sealedSecret, secretBinding(webhook))
  }

  /**
   * @returns with the secret, to be shown once, if the registry generated the secret
   * @throws GatewayError `conflict` when the account has too many webhooks
   */
  create(
    accountId: AccountId,
    settings: NewWebhook,
  ): Promise<{ readonly webhook: Webhook; readonly generated: Secret | undefined }> {
    return this.inTurn(async () => {
      const generated = settings.secret === undefined ? generateSecret() : undefined
      const now = this.#clock.now()
      const id = createWebhookId()
      const webhook: Webhook = {
        accountId,
        id,
        url: settings.url,
        sealedSecret: this.#seal(settings.secret ?? generated ?? generateSecret(), {
          accountId,
          id,
        }),
        events: settings.events,
        isActive: settings.isActive,
        createdAt: now,
        updatedAt: now,
      }
      await this.#store.insert(webhook)
      this.adopt(webhook)
      return { webhook, generated }
    })
  }

  update(accountId: AccountId, id: string, changes: WebhookChanges): Promise<Webhook> {
    return this.inTurn(async () => {
      const current = this.get(accountId, id)
      const { secret, ...settings } = changes
      const sealedSecret = secret === undefined ? undefined : this.#seal(secret, current)
      const updatedAt = this.#clock.now()
      const saved = await this.#store.change({ accountId, id }, (previous) => ({
        ...withChanges<Omit<Webhook, 'sealedSecret'>>(previous, settings),
        sealedSecret,
        updatedAt,
      }))
      if (saved === undefined) throw this.notFound(accountId, id)
      const { previous, changed } = saved
      const webhook = { ...changed, sealedSecret: sealedSecret ?? previous.sealedSecret }
      this.adopt(webhook)
      return webhook
    })
  }

  #seal(secret: Secret, webhook: { readonly accountId: AccountId; readonly id: string }): string {
    return this.#vault.encrypt(secret, secretBinding(webhook))
  }
}

function generateSecret(): Secret {
  return new Secret(`whsec_${randomBytes(32).toString('hex')}`)
}

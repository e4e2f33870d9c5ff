/**
 * The webhooks of every account in memory, with the store behind them. Knows neither HTTP nor what
 * is sent.
 */
import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import type { Vault } from '../core/vault.ts'
import { createWebhookId, secretBinding, type Webhook, type WebhookEvent } from '../core/webhook.ts'
import { newestFirst, Snapshot } from '../snapshots/snapshot.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { WebhookTableStore } from '../store/webhooks.ts'

export interface WebhookRegistryOptions {
  readonly webhooks: Pick<WebhookTableStore, 'loadAll' | 'findSome' | 'insert' | 'save' | 'delete'>
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>
  readonly clock?: Clock
}

export interface NewWebhook {
  readonly url: string
  /** Generated when absent. */
  readonly secret?: Secret | undefined
  readonly events: readonly WebhookEvent[]
  readonly isActive: boolean
}

/** Only what is present changes. */
export type WebhookChanges = {
  readonly [Field in keyof NewWebhook]?: NewWebhook[Field] | undefined
}

export class WebhookRegistry extends Snapshot<Webhook> {
  readonly #store: WebhookRegistryOptions['webhooks']
  readonly #vault: WebhookRegistryOptions['vault']
  readonly #clock: Clock

  private constructor(options: WebhookRegistryOptions) {
    super(options.webhooks)
    this.#store = options.webhooks
    this.#vault = options.vault
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: WebhookRegistryOptions): Promise<WebhookRegistry> {
    const registry = new WebhookRegistry(options)
    for (const webhook of await options.webhooks.loadAll()) registry.adopt(webhook)
    return registry
  }

  /** Newest first. */
  list(accountId: AccountId): readonly Webhook[] {
    return newestFirst(this.heldBy(accountId), ({ id }) => id)
  }

  find(accountId: AccountId, id: string): Webhook | undefined {
    return this.held(accountId, id)
  }

  /** @throws GatewayError `not_found` */
  get(accountId: AccountId, id: string): Webhook {
    const webhook = this.find(accountId, id)
    if (webhook === undefined)
      throw new GatewayError('not_found', 'There is no webhook with this id.')
    return webhook
  }

  /** @throws VaultError when the master key that closed it is not here */
  openSecret(webhook: Webhook): Secret {
    return this.#vault.decrypt(webhook.sealedSecret, secretBinding(webhook))
  }

  /**
   * @returns with the secret, to be shown this once, when it was generated
   * @throws GatewayError `conflict` when the account has too many
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

  /** @throws GatewayError `not_found` */
  update(accountId: AccountId, id: string, changes: WebhookChanges): Promise<Webhook> {
    return this.inTurn(async () => {
      const current = this.get(accountId, id)
      const { secret } = changes
      const webhook: Webhook = {
        ...current,
        url: changes.url ?? current.url,
        sealedSecret: secret === undefined ? current.sealedSecret : this.#seal(secret, current),
        events: changes.events ?? current.events,
        isActive: changes.isActive ?? current.isActive,
        updatedAt: this.#clock.now(),
      }
      await this.#store.save(
        secret === undefined ? { ...webhook, sealedSecret: undefined } : webhook,
      )
      this.adopt(webhook)
      return webhook
    })
  }

  /** With everything that is on its way to it. @throws GatewayError `not_found` */
  delete(accountId: AccountId, id: string): Promise<void> {
    return this.inTurn(async () => {
      this.get(accountId, id)
      await this.#store.delete(accountId, id)
      this.forget(accountId, id)
    })
  }

  protected nameOf(webhook: Webhook): NamedThing {
    return webhook
  }

  protected adopt(webhook: Webhook): void {
    this.hold(webhook, webhook)
  }

  #seal(secret: Secret, webhook: { readonly accountId: AccountId; readonly id: string }): string {
    return this.#vault.encrypt(secret, secretBinding(webhook))
  }
}

function generateSecret(): Secret {
  return new Secret(`whsec_${randomBytes(32).toString('hex')}`)
}

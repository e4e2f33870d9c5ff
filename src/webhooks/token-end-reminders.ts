/**
 * Publishes `token.expiring` before access tokens end. Every node looks for such tokens; the mark
 * of the event is stored with the token, so that one node publishes the event, once for each end.
 */
import { EXPIRES_SOON_MS } from '../core/access-token.ts'
import { type ApiKey, toPublicKey } from '../core/api-key.ts'
import type { Timekeeper } from '../core/clock.ts'
import type { WebhookEvent } from '../core/webhook.ts'
import type { KeyTableStore } from '../store/resources/keys.ts'
import type { WebhookTableStore } from '../store/resources/webhooks.ts'
import { type EventPublisher, MAX_QUEUED, type PublishedEvent } from './gateway-events.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

const LOOK_EVERY_MS = 600_000
/** Further tokens of an account are announced the next time. */
const MOST_AT_ONCE = 500
const EVENT: WebhookEvent = 'token.expiring'

/** Tokens for a single job live for hours, and need no reminder. */
const LEAST_LIFE_MS = 86_400_000

interface TokenEndRemindersOptions {
  readonly webhooks: Pick<WebhookRegistry, 'countListeners'>
  readonly keys: Pick<KeyTableStore, 'listEnding'>
  readonly queue: Pick<WebhookTableStore, 'countDeliveries'>
  readonly publisher: Pick<EventPublisher, 'enqueue'>
  readonly clock: Timekeeper
  /** Called when the store fails; the tokens are announced the next time. */
  readonly onFailure: (error: unknown) => void
}

export class TokenEndReminders {
  readonly #options: TokenEndRemindersOptions
  #endLooking: (() => void) | undefined
  #looking: Promise<void> | undefined

  constructor(options: TokenEndRemindersOptions) {
    this.#options = options
  }

  start(): void {
    this.#endLooking = this.#options.clock.every(LOOK_EVERY_MS, () => void this.look())
    void this.look()
  }

  async close(): Promise<void> {
    this.#endLooking?.()
    await this.#looking
  }

  /** Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch(this.#options.onFailure)
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { webhooks, keys, queue, publisher, clock } = this.#options
    // An account without a listener keeps its marks for a webhook that is created later.
    for (const [accountId, listeners] of webhooks.countListeners(EVENT)) {
      const free = Math.floor((MAX_QUEUED - (await queue.countDeliveries(accountId))) / listeners)
      if (free <= 0) continue
      const fromMs = clock.now()
      const ending = await keys.listEnding(accountId, {
        ...{ fromMs, toMs: fromMs + EXPIRES_SOON_MS, leastLifeMs: LEAST_LIFE_MS },
        limit: Math.min(free, MOST_AT_ONCE),
      })
      for (const token of ending) await publisher.enqueue(toEvent(token))
    }
  }
}

function toEvent(token: ApiKey): PublishedEvent {
  const { accountId, id: tokenId, expiresAt } = token
  const { name, maskedPrefix, createdBy, lastUsedAt, expiresAt: endsAt } = toPublicKey(token)
  return {
    accountId,
    type: EVENT,
    data: {
      ...{ keyId: tokenId, name, maskedPrefix, owner: token.token?.owner ?? null, createdBy },
      ...{ lastUsedAt, expiresAt: endsAt },
    },
    mark: { accountId, tokenId, expiresAtMs: expiresAt ?? 0 },
  }
}

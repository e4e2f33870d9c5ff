/**
 * Finds the credential of a call: the account's own, or the platform's. An own key that cannot be
 * decrypted is not replaced by the platform's, so the call fails.
 */
import { isLastUse } from '../core/api-key.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { maskProviderKey, type ProviderKey, providerKeyBinding } from '../core/provider-key.ts'
import type { Secret } from '../core/secret.ts'
import type { Vault } from '../core/vault.ts'
import type { Credential, Credentials } from '../gateway/ports.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { ProviderKeyTableStore, SealedProviderKey } from '../store/resources/provider-keys.ts'
import { newestFirst, Snapshot } from './snapshot.ts'
import { type FlushOptions, UnsavedUses } from './unsaved-uses.ts'

export interface ProviderKeyRegistryOptions extends FlushOptions {
  readonly keys: Pick<
    ProviderKeyTableStore,
    'loadAll' | 'findSome' | 'save' | 'saveActive' | 'delete' | 'saveLastUsed'
  >
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>
  readonly platform: ReadonlyMap<string, Secret>
  readonly clock?: Clock
  readonly onChanged?: (accountId: AccountId, providerId: string) => void
  readonly onUnopened?: (key: ProviderKey, error: unknown) => void
}

interface Entry {
  key: ProviderKey
  sealed: string
  /**
   * The decrypted key, from its first use on. Caches elsewhere use the object as their key, so an
   * unchanged key keeps its object.
   */
  opened: Credential | undefined
  /**
   * A failed decryption is not repeated before this time (milliseconds since the Unix epoch),
   * because decryption may read a file.
   */
  shutUntil: number
  reason: string | undefined
}

export interface NewProviderKey {
  readonly accountId: AccountId
  readonly providerId: string
  readonly secret: Secret
  readonly isActive: boolean
}

const REOPEN_AFTER_MS = 10_000

export class ProviderKeyRegistry extends Snapshot<Entry, SealedProviderKey> implements Credentials {
  readonly #options: ProviderKeyRegistryOptions
  readonly #clock: Clock
  readonly #platform: Map<string, Credential>
  readonly #unsaved = new UnsavedUses<Entry>({
    save: (entries) =>
      this.#options.keys.saveLastUsed(
        entries.map(({ key }) => ({ ...key, lastUsedAt: key.lastUsedAt ?? 0 })),
      ),
    // Provider keys are few, so order does not matter.
    placeOf: () => 0,
    isCurrent: (entry) => this.#isCurrent(entry),
  })

  private constructor(options: ProviderKeyRegistryOptions) {
    super(options.keys)
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#platform = new Map()
    this.replacePlatform(options.platform)
    this.#unsaved.start(options)
  }

  static async load(options: ProviderKeyRegistryOptions): Promise<ProviderKeyRegistry> {
    const rows = await options.keys.loadAll()
    const registry = new ProviderKeyRegistry(options)
    for (const row of rows) registry.#remember(row)
    return registry
  }

  find(accountId: AccountId, providerId: string): Credential | undefined {
    const entry = this.held(accountId, providerId)
    if (entry === undefined || !entry.key.isActive) return this.#platform.get(providerId)
    return entry.opened ?? this.#open(entry)
  }

  hasPlatform(providerId: string): boolean {
    return this.#platform.has(providerId)
  }

  /** New calls use these. An unchanged key keeps its credential, which is a cache key elsewhere. */
  replacePlatform(platform: ProviderKeyRegistryOptions['platform']): void {
    for (const id of this.#platform.keys()) if (!platform.has(id)) this.#platform.delete(id)
    for (const [id, secret] of platform)
      if (this.#platform.get(id)?.secret.reveal() !== secret.reveal())
        this.#platform.set(id, { secret, owner: 'platform' })
  }

  touch(accountId: AccountId, providerId: string): void {
    const entry = this.held(accountId, providerId)
    if (entry === undefined) return
    const now = this.#clock.now()
    if (!isLastUse(now, entry.key.lastUsedAt)) return
    entry.key = { ...entry.key, lastUsedAt: now }
    this.#unsaved.add(entry)
  }

  list(accountId: AccountId): readonly ProviderKey[] {
    const keys = this.heldBy(accountId).map(({ key }) => key)
    return newestFirst(keys, ({ providerId }) => providerId)
  }

  /** New calls use the new key once this resolves. */
  set(given: NewProviderKey): Promise<{ readonly key: ProviderKey; readonly isNew: boolean }> {
    return this.inTurn(async () => {
      const { accountId, providerId, secret, isActive } = given
      const previous = this.held(accountId, providerId)
      const now = this.#clock.now()
      const key: ProviderKey = {
        accountId,
        providerId,
        maskedKey: maskProviderKey(secret.reveal()),
        isActive,
        createdAt: previous?.key.createdAt ?? now,
        updatedAt: now,
        lastUsedAt: null,
      }
      const sealed = this.#options.vault.encrypt(secret, providerKeyBinding(accountId, providerId))
      await this.#options.keys.save({ key, sealed })
      if (previous !== undefined) this.#unsaved.delete(previous)
      this.#remember({ key, sealed }, { secret, owner: 'account' })
      this.#options.onChanged?.(accountId, providerId)
      return { key, isNew: previous === undefined }
    })
  }

  setActive(accountId: AccountId, providerId: string, isActive: boolean): Promise<ProviderKey> {
    return this.inTurn(async () => {
      const entry = this.held(accountId, providerId)
      if (entry === undefined) throw providerKeyNotFound()
      const changed = { ...entry.key, isActive, updatedAt: this.#clock.now() }
      if (!(await this.#options.keys.saveActive(changed))) throw providerKeyNotFound()
      entry.key = { ...changed, lastUsedAt: entry.key.lastUsedAt }
      this.#options.onChanged?.(accountId, providerId)
      return entry.key
    })
  }

  /**
   * Deletes a key, which no new call uses once this resolves.
   * @throws GatewayError `not_found`
   */
  delete(accountId: AccountId, providerId: string): Promise<void> {
    return this.inTurn(async () => {
      const entry = this.held(accountId, providerId)
      if (entry === undefined) throw providerKeyNotFound()
      await this.#options.keys.delete(accountId, providerId)
      this.forget(accountId, providerId)
    })
  }

  /** Stops the timer and writes pending times; a failure goes to `onFlushFailure`. */
  close(): Promise<void> {
    return this.#unsaved.close()
  }

  #open(entry: Entry): Credential {
    const { accountId, providerId } = entry.key
    const now = this.#clock.now()
    // If the clock was set back, the wait ends at once.
    if (now < entry.shutUntil && entry.shutUntil - now <= REOPEN_AFTER_MS)
      throw cannotOpen(providerId)
    try {
      const secret = this.#options.vault.decrypt(
        entry.sealed,
        providerKeyBinding(accountId, providerId),
      )
      entry.opened = { secret, owner: 'account' }
      return entry.opened
    } catch (cause) {
      entry.shutUntil = now + REOPEN_AFTER_MS
      const reason = String(cause)
      if (reason !== entry.reason) this.#options.onUnopened?.(entry.key, cause)
      entry.reason = reason
      throw cannotOpen(providerId, cause)
    }
  }

  #isCurrent(entry: Entry): boolean {
    return this.held(entry.key.accountId, entry.key.providerId) === entry
  }

  protected nameOf({ key: { accountId, providerId } }: SealedProviderKey): NamedThing {
    return { accountId, id: providerId }
  }

  protected override forget(accountId: AccountId, providerId: string): void {
    const entry = this.held(accountId, providerId)
    if (entry === undefined) return
    this.#unsaved.delete(entry)
    super.forget(accountId, providerId)
    this.#options.onChanged?.(accountId, providerId)
  }

  /**
   * Takes over a row written by another node or a master key rotation. An unchanged decrypted key
   * stays the same object.
   */
  protected adopt(stored: SealedProviderKey): void {
    const { accountId, providerId } = stored.key
    const entry = this.held(accountId, providerId)
    const hasChanged =
      entry === undefined ||
      entry.key.updatedAt !== stored.key.updatedAt ||
      entry.key.isActive !== stored.key.isActive ||
      entry.key.maskedKey !== stored.key.maskedKey
    if (hasChanged || (entry.sealed !== stored.sealed && !this.#isSameKey(entry, stored))) {
      if (entry !== undefined) this.#unsaved.delete(entry)
      this.#remember(stored)
      this.#options.onChanged?.(accountId, providerId)
      return
    }
    entry.sealed = stored.sealed
    entry.shutUntil = 0
  }

  #isSameKey(entry: Entry, { key, sealed }: SealedProviderKey): boolean {
    // The new text is decrypted when a call needs the key.
    if (entry.opened === undefined) return true
    try {
      const secret = this.#options.vault.decrypt(
        sealed,
        providerKeyBinding(key.accountId, key.providerId),
      )
      return secret.reveal() === entry.opened.secret.reveal()
    } catch {
      return false
    }
  }

  #remember({ key, sealed }: SealedProviderKey, opened?: Credential): void {
    const name = { accountId: key.accountId, id: key.providerId }
    this.hold(name, { key, sealed, opened, shutUntil: 0, reason: undefined })
  }
}

/** The cause is for the operator; the message says what a caller can do. */
function cannotOpen(providerId: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'provider_auth_failed',
    `The account's own key for ${providerId} cannot be decrypted. No other key is used ` +
      'instead. Set it again ' +
      `(PUT /v1/provider-keys/${providerId}), or deactivate it to use the ` +
      `gateway's own credential.`,
    { cause },
  )
}

function providerKeyNotFound(): GatewayError {
  return new GatewayError('not_found', 'The account has no own key for this provider.')
}

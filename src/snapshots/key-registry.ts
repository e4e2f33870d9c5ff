/**
 * An account's keys and their changes (create, import, rename, rotate, delete), in the store and in
 * this node's snapshot. Only the hash of a key's text is stored.
 */
import { TOKEN_PREFIX, type TokenRules } from '../core/access-token.ts'
import {
  type ApiKey,
  describeGuessableKey,
  generateApiKey,
  hashApiKey,
  hashesOfSpellings,
  isLegacyKey,
  isNewKey,
  maskApiKey,
  type PreviousKey,
} from '../core/api-key.ts'
import { GatewayError, invalidRequest } from '../core/errors.ts'
import { type AccountId, createKeyId, type KeyId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { currentActor } from '../store/changes/change-origin.ts'
import { DeletedKeyError, type KeyChange, type KeyTableStore } from '../store/resources/keys.ts'
import { KeySnapshot, type KeySnapshotOptions } from './key-snapshot.ts'

export interface KeyRegistryOptions extends KeySnapshotOptions {
  readonly keys: KeySnapshotOptions['keys'] &
    Pick<KeyTableStore, 'insert' | 'insertFirst' | 'change' | 'delete' | 'findDeletedNames'>
}

export interface KeyLabel {
  readonly accountId: AccountId
  readonly name: string
  /** Milliseconds since the Unix epoch; null or undefined for a key that never expires. */
  readonly expiresAt?: number | null
  readonly token?: TokenRules
  readonly user?: string | null | undefined
  readonly tags?: readonly string[] | undefined
}

export interface KeyUpdate {
  readonly name?: string | undefined
  /** Null for a key that never expires. */
  readonly expiresAt?: number | null | undefined
  readonly token?: TokenRules | undefined
  readonly user?: string | null | undefined
  readonly tags?: readonly string[] | undefined
}

export interface CreatedKey {
  readonly record: ApiKey
  readonly key: Secret
}

export type FirstKey =
  | { readonly type: 'created'; readonly key: Secret }
  /** The given key is valid, or the account has another key by now. */
  | { readonly type: 'there' }
  /** The given key is invalid, and the account still has no key. */
  | { readonly type: 'refused'; readonly reason: 'deleted' | 'taken' }

export class KeyRegistry extends KeySnapshot {
  readonly #keys: KeyRegistryOptions['keys']

  private constructor(options: KeyRegistryOptions) {
    super(options)
    this.#keys = options.keys
  }

  static async load(options: KeyRegistryOptions): Promise<KeyRegistry> {
    const records = await options.keys.loadAll()
    const registry = new KeyRegistry(options)
    for (const record of records) registry.remember(record)
    return registry
  }

  deletedNamesOf(
    accountId: AccountId,
    keyIds: readonly KeyId[],
  ): Promise<ReadonlyMap<KeyId, string>> {
    return this.#keys.findDeletedNames(accountId, keyIds)
  }

  async create(label: KeyLabel): Promise<CreatedKey> {
    const key = generateApiKey(prefixOf(label.token))
    return { record: await this.#add(label, key, 'key.create'), key }
  }

  /**
   * Imports a key that was created elsewhere: `sk-svc-`, `svc_` or `legacy_`.
   * @throws GatewayError `invalid_request` for an unknown format or an easily guessed key,
   * `conflict` when the key exists already or was deleted, in any account
   */
  async import(imported: KeyLabel & { readonly key: Secret }): Promise<ApiKey> {
    const presented = imported.key.reveal()
    if (!isNewKey(presented) && !isLegacyKey(presented)) {
      throw invalidRequest('key: is not in a known format (sk-svc-…, svc_… or legacy_…)', 'key')
    }
    // Also refuses ephemeral keys, which would hide the stored key until the process ends.
    if (this.isHeld(hashApiKey(presented))) throw keyExists()
    const problem = describeGuessableKey(presented)
    if (problem !== undefined) throw invalidRequest(`key: ${problem}`, 'key')
    return this.#add(imported, imported.key, 'key.import')
  }

  /**
   * Creates the first key of an account without keys, or imports the given key. When several nodes
   * start at once, all use the first node's key. A given key that was deleted before stays deleted.
   */
  async ensureFirst(label: KeyLabel, given?: Secret): Promise<FirstKey> {
    const key = given ?? generateApiKey()
    const action = given === undefined ? 'key.create' : 'key.import'
    const record = this.#toRecord(label, key)
    try {
      const stored = await this.inTurn(async () => {
        // Reads no other keys, because there may be a hundred thousand, and a start waits for this
        // step.
        const keys = await this.#keys.insertFirst(record, action, spellingsOf(given))
        for (const key of keys) this.adopt(key)
        return keys
      })
      if (stored.length === 0) return { type: 'refused', reason: 'taken' }
      const isOurs = given === undefined && stored.some(({ id }) => id === record.id)
      return isOurs ? { type: 'created', key } : { type: 'there' }
    } catch (error) {
      if (error instanceof DeletedKeyError) return { type: 'refused', reason: 'deleted' }
      throw error
    }
  }

  /** Accepts a key until the process ends, without listing or storing the key. */
  addEphemeral(key: Secret, label: KeyLabel): ApiKey {
    const record = this.#toRecord(label, key)
    this.remember(record, { isEphemeral: true })
    return record
  }

  /**
   * @throws GatewayError `not_found`; `invalid_request` for an expiry that is not in the future,
   * `conflict` when the key has expired, which is final
   */
  update(
    accountId: AccountId,
    keyId: KeyId,
    { name, expiresAt, token, user, tags }: KeyUpdate,
  ): Promise<ApiKey> {
    const nowMs = this.clock.now()
    return this.#change(accountId, keyId, {
      action: 'key.update',
      change: (key) => {
        if (expiresAt !== undefined) {
          assertNotExpired(key, nowMs)
          assertAhead(expiresAt, nowMs)
        }
        return {
          ...key,
          name: name ?? key.name,
          expiresAt: expiresAt === undefined ? key.expiresAt : expiresAt,
          token: token ?? key.token,
          user: user === undefined ? key.user : user,
          tags: tags ?? key.tags,
        }
      },
    })
  }

  /**
   * Rotates the key's text. The previous text stays valid for `oldEndsInMs`; with 0 every older
   * text ends immediately.
   * @throws GatewayError `not_found`; `conflict` when the key has expired, or an earlier rotation
   * has not ended
   */
  async rotate(accountId: AccountId, keyId: KeyId, oldEndsInMs: number): Promise<CreatedKey> {
    const nowMs = this.clock.now()
    const key = generateApiKey(prefixOf(this.recordOf(accountId, keyId)?.token))
    const value = key.reveal()
    const record = await this.#change(accountId, keyId, {
      action: 'key.rotate',
      change: (old) => {
        assertNotExpired(old, nowMs)
        const previous = endPrevious(old, { nowMs, endsInMs: oldEndsInMs })
        return { ...old, sha256: hashApiKey(value), maskedPrefix: maskApiKey(value), previous }
      },
    })
    return { record, key }
  }

  delete(accountId: AccountId, keyId: KeyId): Promise<boolean> {
    return this.inTurn(async () => {
      const wasStored = await this.#keys.delete(accountId, keyId)
      this.forget(accountId, keyId)
      return wasStored
    })
  }

  async #add(label: KeyLabel, key: Secret, action: 'key.create' | 'key.import'): Promise<ApiKey> {
    assertAhead(label.expiresAt, this.clock.now())
    const record = this.#toRecord(label, key)
    const spellings = action === 'key.import' ? spellingsOf(key) : []
    const held = this.countOf(label.accountId)
    try {
      if (!(await this.#keys.insert(record, action, { spellings, held }))) throw keyExists()
    } catch (error) {
      if (!(error instanceof DeletedKeyError)) throw error
      throw new GatewayError('conflict', 'This key was deleted, which is final. Create a new one.')
    }
    this.remember(record)
    return record
  }

  #change(accountId: AccountId, keyId: KeyId, change: KeyChange): Promise<ApiKey> {
    return this.inTurn(async () => {
      const record = await this.#keys.change(accountId, keyId, change)
      if (record === undefined) throw new GatewayError('not_found', 'There is no key with this id.')
      return { ...record, lastUsedAt: this.adopt(record) }
    })
  }

  #toRecord(label: KeyLabel, key: Secret): ApiKey {
    const value = key.reveal()
    return {
      accountId: label.accountId,
      id: createKeyId(),
      name: label.name,
      sha256: hashApiKey(value),
      maskedPrefix: maskApiKey(value),
      createdAt: this.clock.now(),
      lastUsedAt: null,
      createdBy: currentActor(),
      expiresAt: label.expiresAt ?? null,
      previous: null,
      token: label.token,
      user: label.user,
      tags: label.tags,
    }
  }
}

function prefixOf(token: TokenRules | undefined): 'at-svc-' | 'sk-svc-' {
  return token === undefined ? 'sk-svc-' : TOKEN_PREFIX
}

function keyExists(): GatewayError {
  return new GatewayError('conflict', 'This key already exists.')
}

function spellingsOf(key: Secret | undefined): readonly string[] {
  return key === undefined ? [] : hashesOfSpellings(key.reveal())
}

function assertAhead(expiresAt: number | null | undefined, nowMs: number): void {
  if (expiresAt != null && expiresAt <= nowMs)
    throw invalidRequest('expiresAt: must be in the future', 'expiresAt')
}

function assertNotExpired({ expiresAt }: ApiKey, nowMs: number): void {
  if (expiresAt !== null && expiresAt <= nowMs)
    throw new GatewayError('conflict', 'This key has expired, which is final. Create a new one.')
}

/**
 * The key's text before the rotation, as its previous text; null when that text ends immediately.
 * @throws GatewayError `conflict` when an earlier rotation has not ended
 */
function endPrevious(
  { sha256, maskedPrefix, previous }: ApiKey,
  { nowMs, endsInMs }: { readonly nowMs: number; readonly endsInMs: number },
): PreviousKey | null {
  if (endsInMs <= 0) return null
  if (previous !== null && previous.endsAt > nowMs) throw isBeingRotated(previous)
  return { sha256, maskedPrefix, endsAt: nowMs + endsInMs }
}

function isBeingRotated({ endsAt }: PreviousKey): GatewayError {
  const until = new Date(endsAt).toISOString()
  return new GatewayError(
    'conflict',
    `This key is being rotated: its previous text expires at ${until}. Wait for that, or rotate ` +
      `with 'oldEndsInSeconds: 0', which ends all previous texts immediately.`,
  )
}

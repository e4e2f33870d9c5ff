/**
 * The keys that this node accepts, in memory, with the store behind them. It never keeps a key
 * itself, only its hash, and knows nothing of HTTP.
 */
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
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError, invalidRequest } from '../core/errors.ts'
import { type AccountId, createKeyId, type KeyId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import type { Caller, KeyLimits, KeyStore } from '../gateway/ports.ts'
import type { Follower } from '../revocation/change-followers.ts'
import { currentOrigin } from '../store/changes/change-origin.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import { DeletedKeyError, type KeyChange, type KeyTableStore } from '../store/keys.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { newestFirst } from './snapshot.ts'
import { UnsavedUses } from './unsaved-uses.ts'

export interface KeyRegistryOptions {
  readonly keys: Pick<
    KeyTableStore,
    'loadAll' | 'findSome' | 'insert' | 'insertFirst' | 'change' | 'delete' | 'saveLastUsed'
  >
  /** What the keys of an account may use. */
  readonly limitsOf: (accountId: AccountId) => KeyLimits
  readonly clock?: Clock
  /** How long a last-used time waits in memory. */
  readonly flushIntervalMs?: number
  /** Told when last-used times could not be written; they are kept for the next attempt. */
  readonly onFlushFailure?: (error: unknown) => void
}

export interface KeyLabel {
  readonly accountId: AccountId
  readonly name: string
  /** Milliseconds since the Unix epoch; absent: it does not expire. */
  readonly expiresAt?: number | null
}

export interface KeyUpdate {
  readonly name?: string | undefined
  /** Null: it does not expire. */
  readonly expiresAt?: number | null | undefined
}

export interface CreatedKey {
  readonly record: ApiKey
  /** Shown once and kept nowhere. */
  readonly key: Secret
}

/** What became of the attempt to give an account its first key. */
export type FirstKey =
  /** This node made it; it is shown once and kept nowhere. */
  | { readonly type: 'made'; readonly key: Secret }
  /** The given key, or another one that the account has by now, is in force. */
  | { readonly type: 'there' }
  /** The given key is not in force, and the account still has none. */
  | { readonly type: 'refused'; readonly reason: 'deleted' | 'taken' }

/** One object for each key: of most there are many, and few of them call. */
interface Entry {
  readonly record: ApiKey
  readonly isEphemeral: boolean
  lastUsedAt: number | null
  /** The caller that presents the key's own text; made when one first does. */
  caller: Caller | undefined
}

const DEFAULT_FLUSH_INTERVAL_MS = 5_000
/** Beyond that the oldest is forgotten: a store that is set back is so by hours, not by years. */
const MOST_BURIED = 100_000

export class KeyRegistry implements KeyStore, Follower {
  readonly #keys: KeyRegistryOptions['keys']
  readonly #limitsOf: KeyRegistryOptions['limitsOf']
  readonly #clock: Clock
  readonly #onFlushFailure: (error: unknown) => void
  /**
   * By each text that a key may be presented by: its own, and the one that it had before it was
   * rotated.
   */
  readonly #byHash = new Map<string, Entry>()
  readonly #byId = new Map<KeyId, Entry>()
  /** What is listed: without the ephemeral ones. */
  readonly #byAccount = new Map<AccountId, Entry[]>()
  readonly #unsaved = new UnsavedUses<Entry>({
    save: (entries) =>
      this.#keys.saveLastUsed(
        new Map(entries.map(({ record, lastUsedAt }) => [record.id, lastUsedAt ?? 0])),
      ),
    isCurrent: (entry) => this.#byId.get(entry.record.id) === entry,
  })
  /**
   * Known to have been deleted. A store that was set back in time has them again, and they stay
   * refused.
   */
  readonly #buried = new Set<KeyId>()
  readonly #endFlushing: () => void
  /**
   * Deleting and following, one after the other: what was read before a deletion must not come
   * back.
   */
  readonly #steps = new OneAtATime()

  private constructor(options: KeyRegistryOptions) {
    this.#keys = options.keys
    this.#limitsOf = options.limitsOf
    this.#clock = options.clock ?? systemClock
    this.#onFlushFailure = options.onFlushFailure ?? (() => {})
    this.#endFlushing = systemClock.every(
      options.flushIntervalMs ?? DEFAULT_FLUSH_INTERVAL_MS,
      () => void this.#tryFlush(),
    )
  }

  /** Reads every key from the store. `close` the registry before the store. */
  static async load(options: KeyRegistryOptions): Promise<KeyRegistry> {
    const records = await options.keys.loadAll()
    const registry = new KeyRegistry(options)
    for (const record of records) registry.#remember(record)
    return registry
  }

  find(sha256: string): Caller | undefined {
    const entry = this.#byHash.get(sha256)
    if (entry === undefined) return undefined
    const endsAt = endOf(entry.record, sha256)
    if (endsAt !== null && this.#clock.now() >= endsAt) return undefined
    if (sha256 !== entry.record.sha256) return this.#toCaller(entry.record, sha256)
    entry.caller ??= this.#toCaller(entry.record, entry.record.sha256)
    return entry.caller
  }

  touch(keyId: KeyId, atMs: number): void {
    const entry = this.#byId.get(keyId)
    if (entry === undefined || (entry.lastUsedAt ?? 0) >= atMs) return
    entry.lastUsedAt = atMs
    if (!entry.isEphemeral) this.#unsaved.add(entry)
  }

  async create(label: KeyLabel): Promise<CreatedKey> {
    const key = generateApiKey()
    return { record: await this.#add(label, key, 'key.create'), key }
  }

  /**
   * Takes over a key that was made elsewhere: `sk-svc-`, `svc_` or `legacy_`.
   * @throws GatewayError `invalid_request` when it has no known format or is easy to guess,
   * `conflict` when it is there already or was deleted, by whichever account.
   */
  async import(imported: KeyLabel & { readonly key: Secret }): Promise<ApiKey> {
    const presented = imported.key.reveal()
    if (!isNewKey(presented) && !isLegacyKey(presented)) {
      throw invalidRequest('key: is not in a known format (sk-svc-…, svc_… or legacy_…)', 'key')
    }
    if (this.#byHash.has(hashApiKey(presented))) throw keyExists()
    const problem = describeGuessableKey(presented)
    if (problem !== undefined) throw invalidRequest(`key: ${problem}`, 'key')
    return this.#add(imported, imported.key, 'key.import')
  }

  /**
   * For an account that has none: makes its first key, or takes over the given one. Of several
   * nodes that start at once one does, and its key is the others' as well. A given key that was
   * deleted once stays dead.
   */
  async ensureFirst(label: KeyLabel, given?: Secret): Promise<FirstKey> {
    const key = given ?? generateApiKey()
    const action = given === undefined ? 'key.create' : 'key.import'
    const record = this.#toRecord(label, key)
    try {
      if (await this.#keys.insertFirst(record, action, spellingsOf(given))) {
        this.#remember(record)
        return given === undefined ? { type: 'made', key } : { type: 'there' }
      }
    } catch (error) {
      if (error instanceof DeletedKeyError) return { type: 'refused', reason: 'deleted' }
      throw error
    }
    await this.followAll()
    return this.list(label.accountId).length > 0
      ? { type: 'there' }
      : { type: 'refused', reason: 'taken' }
  }

  /** Accepts a key for as long as the process lives; it is never listed nor stored. */
  addEphemeral(key: Secret, label: KeyLabel): ApiKey {
    const record = this.#toRecord(label, key)
    this.#remember(record, { isEphemeral: true })
    return record
  }

  /** The account's stored keys, newest first, last-used times up to the moment. */
  list(accountId: AccountId): readonly ApiKey[] {
    const entries = this.#byAccount.get(accountId) ?? []
    const keys = entries.map(({ record, lastUsedAt }) => ({ ...record, lastUsedAt }))
    return newestFirst(keys, ({ id }) => id)
  }

  nameOf(keyId: KeyId): string | undefined {
    return this.#byId.get(keyId)?.record.name
  }

  /**
   * @throws GatewayError `not_found`; `invalid_request` for an end that is not ahead, `conflict`
   * where the key has expired: like a deleted one it stays so
   */
  update(accountId: AccountId, keyId: KeyId, { name, expiresAt }: KeyUpdate): Promise<ApiKey> {
    const now = this.#clock.now()
    return this.#change(accountId, keyId, {
      action: 'key.update',
      change: (key) => {
        if (expiresAt !== undefined) assertAhead(key, expiresAt, now)
        return {
          ...key,
          name: name ?? key.name,
          expiresAt: expiresAt === undefined ? key.expiresAt : expiresAt,
        }
      },
    })
  }

  /**
   * Gives the key a new text; what it had is accepted for as long as `oldEndsInMs` says, and dead
   * for ever then. With 0 every older one ends at once, that of an earlier rotation too. Name,
   * budgets, limits and logs stay the key's.
   * @throws GatewayError `not_found`; `conflict` where the key has expired, or an earlier rotation
   * has not ended
   */
  async rotate(accountId: AccountId, keyId: KeyId, oldEndsInMs: number): Promise<CreatedKey> {
    const now = this.#clock.now()
    const key = generateApiKey()
    const value = key.reveal()
    const record = await this.#change(accountId, keyId, {
      action: 'key.rotate',
      change: (old) => {
        assertNotExpired(old, now)
        if (oldEndsInMs > 0 && old.previous !== null && old.previous.endsAt > now)
          throw isBeingRotated(old.previous)
        const { sha256, maskedPrefix } = old
        const previous =
          oldEndsInMs > 0 ? { sha256, maskedPrefix, endsAt: now + oldEndsInMs } : null
        return { ...old, sha256: hashApiKey(value), maskedPrefix: maskApiKey(value), previous }
      },
    })
    return { record, key }
  }

  /**
   * When this resolves, no call that begins later is accepted here with the key.
   * @returns false when there is none.
   */
  delete(accountId: AccountId, keyId: KeyId): Promise<boolean> {
    return this.#steps.run(async () => {
      const wasStored = await this.#keys.delete(accountId, keyId)
      this.forget(accountId, keyId)
      return wasStored
    })
  }

  follow(things: readonly NamedThing[]): Promise<void> {
    return this.#steps.run(async () => {
      const records = await this.#keys.findSome(things)
      for (const [index, { accountId, id }] of things.entries()) {
        const record = records[index]
        if (record === undefined) this.forget(accountId, id)
        else this.#adopt(record)
      }
    })
  }

  followAll(isOlder = false): Promise<void> {
    return this.#steps.run(async () => {
      // One that is made here while the store is read need not be among what it gave.
      const known = [...this.#byId.values()]
      const records = await this.#keys.loadAll()
      const stored = new Set(records.map(({ id }) => id))
      for (const { record } of known) {
        if (stored.has(record.id)) continue
        // What an older store lacks was made after it, and is back when the store is.
        if (isOlder) this.#drop(record.accountId, record.id)
        else this.forget(record.accountId, record.id)
      }
      for (const record of records) this.#adopt(record)
    })
  }

  /** It was deleted, and stays so whatever the store says later. */
  forget(accountId: AccountId, keyId: string): void {
    const entry = this.#byId.get(keyId as KeyId)
    if (entry === undefined || entry.isEphemeral || entry.record.accountId !== accountId) return
    this.#drop(accountId, keyId)
    this.#buried.add(entry.record.id)
    const [oldest] = this.#buried
    if (this.#buried.size > MOST_BURIED && oldest !== undefined) this.#buried.delete(oldest)
  }

  #drop(accountId: AccountId, keyId: string): void {
    const entry = this.#byId.get(keyId as KeyId)
    if (entry === undefined || entry.isEphemeral || entry.record.accountId !== accountId) return
    this.#byId.delete(entry.record.id)
    this.#unlist(entry)
    this.#unsaved.delete(entry)
    for (const sha256 of hashesOf(entry.record))
      if (this.#byHash.get(sha256) === entry) this.#byHash.delete(sha256)
  }

  /**
   * Writes the last-used times that wait. On failure they are kept for the next time and the error
   * is thrown.
   */
  flush(): Promise<void> {
    return this.#unsaved.flush()
  }

  /** Stops the clockwork and writes what waits; a failure goes to `onFlushFailure`. */
  async close(): Promise<void> {
    this.#endFlushing()
    await this.#tryFlush()
  }

  async #tryFlush(): Promise<void> {
    try {
      await this.flush()
    } catch (error) {
      this.#onFlushFailure(error)
    }
  }

  async #add(label: KeyLabel, key: Secret, action: 'key.create' | 'key.import'): Promise<ApiKey> {
    if (label.expiresAt != null && label.expiresAt <= this.#clock.now()) throw notAhead()
    const record = this.#toRecord(label, key)
    // One that lives in memory only would be shadowed by the stored one, and die with it.
    const isTaken = this.#byHash.get(record.sha256)?.isEphemeral === true
    if (isTaken || !(await this.#insert(record, action, key))) throw keyExists()
    this.#remember(record)
    return record
  }

  /** Plans have changed: calls that are made from now on are limited by what they say. */
  renewLimits(): void {
    for (const entry of this.#byId.values()) entry.caller = undefined
  }

  #toCaller({ accountId, id: keyId }: ApiKey, keySha256: string): Caller {
    return { accountId, keyId, limits: this.#limitsOf(accountId), keySha256 }
  }

  async #insert(
    record: ApiKey,
    action: 'key.create' | 'key.import',
    key: Secret,
  ): Promise<boolean> {
    try {
      return await this.#keys.insert(
        record,
        action,
        action === 'key.import' ? spellingsOf(key) : [],
      )
    } catch (error) {
      if (!(error instanceof DeletedKeyError)) throw error
      throw new GatewayError(
        'conflict',
        'This key was deleted, and a deleted key stays so: make a new one.',
      )
    }
  }

  /** When it was last used, this node may know better. */
  #adopt(record: ApiKey): void {
    if (this.#buried.has(record.id)) return
    const known = this.#byId.get(record.id)
    if (known !== undefined && isSame(known.record, record)) return
    if (known === undefined) {
      this.#remember(record)
      return
    }
    const isUnsaved = this.#unsaved.has(known)
    this.#drop(record.accountId, record.id)
    this.#remember(record)
    const entry = this.#byId.get(record.id)
    if (entry === undefined) return
    entry.lastUsedAt = latest(known.lastUsedAt, record.lastUsedAt)
    if (isUnsaved) this.#unsaved.add(entry)
  }

  async #change(accountId: AccountId, keyId: KeyId, change: KeyChange): Promise<ApiKey> {
    return await this.#steps.run(async () => {
      const record = await this.#keys.change(accountId, keyId, change)
      if (record === undefined) throw new GatewayError('not_found', 'There is no key with this id.')
      this.#adopt(record)
      return { ...record, lastUsedAt: this.#byId.get(keyId)?.lastUsedAt ?? record.lastUsedAt }
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
      createdAt: this.#clock.now(),
      lastUsedAt: null,
      createdBy: creator(),
      expiresAt: label.expiresAt ?? null,
      previous: null,
    }
  }

  #remember(
    record: ApiKey,
    { isEphemeral = false }: { readonly isEphemeral?: boolean } = {},
  ): void {
    const { accountId, id: keyId } = record
    const entry: Entry = { record, isEphemeral, lastUsedAt: record.lastUsedAt, caller: undefined }
    for (const sha256 of hashesOf(record)) this.#byHash.set(sha256, entry)
    const former = this.#byId.get(keyId)
    if (former !== undefined) this.#unlist(former)
    this.#byId.set(keyId, entry)
    if (isEphemeral) return
    const entries = this.#byAccount.get(accountId)
    if (entries === undefined) this.#byAccount.set(accountId, [entry])
    else entries.push(entry)
  }

  #unlist(entry: Entry): void {
    const { accountId } = entry.record
    const entries = this.#byAccount.get(accountId)
    const place = entries?.indexOf(entry) ?? -1
    if (entries === undefined || place < 0) return
    if (entries.length === 1) this.#byAccount.delete(accountId)
    else entries.splice(place, 1)
  }
}

function hashesOf({ sha256, previous }: ApiKey): readonly string[] {
  return previous === null ? [sha256] : [sha256, previous.sha256]
}

/**
 * When the text with this hash ends, in milliseconds since the Unix epoch; null: it is good for as
 * long as the key is there.
 */
function endOf({ sha256, expiresAt, previous }: ApiKey, presented: string): number | null {
  if (previous === null || presented === sha256) return expiresAt
  return Math.min(previous.endsAt, expiresAt ?? previous.endsAt)
}

function isSame(known: ApiKey, record: ApiKey): boolean {
  return (
    known.sha256 === record.sha256 &&
    known.name === record.name &&
    known.expiresAt === record.expiresAt &&
    known.previous?.sha256 === record.previous?.sha256 &&
    known.previous?.endsAt === record.previous?.endsAt
  )
}

function latest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.max(one, other)
}

/** The id of a user or a key; the gateway's own process and its command line are the operator. */
function creator(): string | null {
  const { actor } = currentOrigin()
  return actor?.type === 'operator' ? 'operator' : (actor?.id ?? null)
}

function assertNotExpired({ expiresAt }: ApiKey, now: number): void {
  if (expiresAt !== null && expiresAt <= now)
    throw new GatewayError('conflict', 'This key has expired, and stays so: make a new one.')
}

function assertAhead(key: ApiKey, expiresAt: number | null, now: number): void {
  assertNotExpired(key, now)
  if (expiresAt !== null && expiresAt <= now) throw notAhead()
}

function notAhead(): GatewayError {
  return invalidRequest('expiresAt: must be in the future', 'expiresAt')
}

function isBeingRotated({ endsAt }: PreviousKey): GatewayError {
  const until = new Date(endsAt).toISOString()
  return new GatewayError(
    'conflict',
    `This key is being rotated: what it was before ends at ${until}. Wait for that, or rotate ` +
      `with 'oldEndsInSeconds: 0', which ends all it was at once.`,
  )
}

function keyExists(): GatewayError {
  return new GatewayError('conflict', 'This key exists already.')
}

function spellingsOf(key: Secret | undefined): readonly string[] {
  return key === undefined ? [] : hashesOfSpellings(key.reveal())
}

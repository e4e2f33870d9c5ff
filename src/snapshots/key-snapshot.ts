import { isDeepStrictEqual } from 'node:util'
import type { Follower } from '../cluster/change-followers.ts'
import type { TokenRules } from '../core/access-token.ts'
import { type ApiKey, isLastUse } from '../core/api-key.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import { stopOfToken } from '../gateway/access-token.ts'
import type { Caller, FixedAttribution, KeyLimits, KeyStore, StopStore } from '../gateway/ports.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { KeyTableStore } from '../store/resources/keys.ts'
import { type ListPart, OrderedKeys } from './ordered-keys.ts'
import { OneAtATime, readAgain } from './snapshot.ts'
import { type FlushOptions, UnsavedUses } from './unsaved-uses.ts'

export interface KeySnapshotOptions extends FlushOptions {
  readonly keys: Pick<KeyTableStore, 'loadAll' | 'findSome' | 'saveLastUsed'>
  readonly limitsOf: (accountId: AccountId) => KeyLimits
  /** Undefined: no key is ever stopped. */
  readonly stops?: StopStore | undefined
  readonly clock?: Clock
}

type KeyKind = 'key' | 'token'

/** Small, because nodes hold many keys and few of them call. */
interface Entry {
  readonly record: ApiKey
  readonly isEphemeral: boolean
  /** Keys created together have neighbouring places, and are written together. */
  readonly place: number
  lastUsedAt: number | null
  caller: Caller | undefined
}

/**
 * The maximum number of remembered ids of deleted keys. A store is restored from hours ago, not
 * years.
 */
const MOST_BURIED = 100_000

export abstract class KeySnapshot implements KeyStore, Follower {
  protected readonly clock: Clock
  readonly #keys: KeySnapshotOptions['keys']
  readonly #limitsOf: KeySnapshotOptions['limitsOf']
  readonly #stops: StopStore | undefined
  readonly #byHash = new Map<string, Entry>()
  readonly #byId = new Map<KeyId, Entry>()
  #places = 0
  readonly #byAccount = {
    key: new Map<AccountId, OrderedKeys<Entry>>(),
    token: new Map<AccountId, OrderedKeys<Entry>>(),
  }
  readonly #unsaved = new UnsavedUses<Entry>({
    save: (entries) =>
      this.#keys.saveLastUsed(
        new Map(entries.map(({ record, lastUsedAt }) => [record.id, lastUsedAt ?? 0])),
      ),
    placeOf: ({ place }) => place,
    isCurrent: (entry) => this.#byId.get(entry.record.id) === entry,
  })
  /**
   * Ids of deleted keys. A store restored from a backup contains the keys again, but they stay
   * refused.
   */
  readonly #buried = new Set<KeyId>()
  readonly #steps = new OneAtATime()

  protected constructor(options: KeySnapshotOptions) {
    this.#keys = options.keys
    this.#limitsOf = options.limitsOf
    this.#stops = options.stops
    this.clock = options.clock ?? systemClock
    this.#unsaved.start(options)
  }

  find(sha256: string): Caller | undefined {
    const entry = this.#byHash.get(sha256)
    if (entry === undefined) return undefined
    const endsAt = endOf(entry.record, sha256)
    if (endsAt !== null && this.clock.now() >= endsAt) return undefined
    if (sha256 !== entry.record.sha256) return this.#toCaller(entry.record, sha256)
    entry.caller ??= this.#toCaller(entry.record, entry.record.sha256)
    return entry.caller
  }

  touch(keyId: KeyId, atMs: number): void {
    const entry = this.#byId.get(keyId)
    if (entry === undefined || !isLastUse(atMs, entry.lastUsedAt)) return
    entry.lastUsedAt = atMs
    if (!entry.isEphemeral) this.#unsaved.add(entry)
  }

  /** The account's stored keys or access tokens, newest first, with current last-used times. */
  list(accountId: AccountId, kind: KeyKind = 'key', part: ListPart = {}): readonly ApiKey[] {
    const entries = this.#byAccount[kind].get(accountId)?.newestFirst(part) ?? []
    return entries.map(({ record, lastUsedAt }) => ({ ...record, lastUsedAt }))
  }

  /** How many keys and access tokens of the account this node holds. */
  countOf(accountId: AccountId): number {
    const { key, token } = this.#byAccount
    return (key.get(accountId)?.size ?? 0) + (token.get(accountId)?.size ?? 0)
  }

  recordOf(accountId: AccountId, keyId: KeyId): ApiKey | undefined {
    const entry = this.#byId.get(keyId)
    if (entry === undefined || entry.isEphemeral || entry.record.accountId !== accountId)
      return undefined
    return { ...entry.record, lastUsedAt: entry.lastUsedAt }
  }

  nameOf(keyId: KeyId): string | undefined {
    return this.#byId.get(keyId)?.record.name
  }

  follow(things: readonly NamedThing[]): Promise<void> {
    return this.inTurn(() =>
      readAgain(this.#keys, things, {
        adopt: (record) => void this.adopt(record),
        forget: ({ accountId, id }) => this.forget(accountId, id as KeyId),
      }),
    )
  }

  followAll(isOlder = false): Promise<void> {
    return this.inTurn(async () => {
      // A key created here while the store is read may be missing from the result.
      const known = [...this.#byId.values()]
      const records = await this.#keys.loadAll()
      const stored = new Set(records.map(({ id }) => id))
      for (const { record } of known) {
        if (stored.has(record.id)) continue
        // A store restored from a backup lacks keys created after the backup, which return with the
        // real store.
        if (isOlder) this.#drop(record.accountId, record.id)
        else this.forget(record.accountId, record.id)
      }
      for (const record of records) this.adopt(record)
    })
  }

  /** Removes a deleted key, which stays refused whatever the store says later. */
  forget(accountId: AccountId, keyId: string): void {
    const entry = this.#drop(accountId, keyId)
    if (entry === undefined) return
    this.#buried.add(entry.record.id)
    const [oldest] = this.#buried
    if (this.#buried.size > MOST_BURIED && oldest !== undefined) this.#buried.delete(oldest)
  }

  /**
   * Applies a changed stop to new calls and to running ones.
   * @param id of the token, or of the member who owns tokens
   */
  renewStops(accountId: AccountId, id: string): void {
    const own = this.#byId.get(id as KeyId)
    const entries = own === undefined ? this.#byAccount.token.get(accountId) : [own]
    for (const entry of entries ?? []) entry.caller = undefined
  }

  renewLimits(): void {
    for (const entry of this.#byId.values()) entry.caller = undefined
  }

  /**
   * Writes pending last-used times. On failure the times are kept for the next attempt, and the
   * error is thrown.
   */
  flush(): Promise<void> {
    return this.#unsaved.flush()
  }

  close(): Promise<void> {
    return this.#unsaved.close()
  }

  protected isHeld(sha256: string): boolean {
    return this.#byHash.has(sha256)
  }

  protected remember(
    record: ApiKey,
    { isEphemeral = false }: { readonly isEphemeral?: boolean } = {},
  ): void {
    const { accountId, id: keyId } = record
    const { lastUsedAt } = record
    const entry: Entry = { record, isEphemeral, place: this.#places, lastUsedAt, caller: undefined }
    this.#places += 1
    for (const sha256 of hashesOf(record)) this.#byHash.set(sha256, entry)
    const former = this.#byId.get(keyId)
    if (former !== undefined) this.#unlist(former)
    this.#byId.set(keyId, entry)
    if (isEphemeral) return
    const accounts = this.#byAccount[kindOf(record)]
    const entries = accounts.get(accountId) ?? new OrderedKeys<Entry>()
    entries.add(entry)
    accounts.set(accountId, entries)
  }

  /**
   * Takes over a written record unless the key was deleted. This node may have a later last-used
   * time.
   * @returns the later last-used time
   */
  protected adopt(record: ApiKey): number | null {
    if (this.#buried.has(record.id)) return record.lastUsedAt
    const known = this.#byId.get(record.id)
    if (known === undefined) {
      this.remember(record)
      return record.lastUsedAt
    }
    if (isSame(known.record, record)) return known.lastUsedAt ?? record.lastUsedAt
    const isUnsaved = this.#unsaved.has(known)
    this.#drop(record.accountId, record.id)
    this.remember(record)
    const entry = this.#byId.get(record.id)
    if (entry === undefined) return record.lastUsedAt
    entry.lastUsedAt = latest(known.lastUsedAt, record.lastUsedAt)
    if (isUnsaved) this.#unsaved.add(entry)
    return entry.lastUsedAt
  }

  /** Serialises deletes, changes and updates: a record read before a deletion must not reappear. */
  protected inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    return this.#steps.run(step)
  }

  #drop(accountId: AccountId, keyId: string): Entry | undefined {
    const entry = this.#byId.get(keyId as KeyId)
    if (entry === undefined || entry.isEphemeral || entry.record.accountId !== accountId)
      return undefined
    this.#byId.delete(entry.record.id)
    this.#unlist(entry)
    this.#unsaved.delete(entry)
    for (const sha256 of hashesOf(entry.record))
      if (this.#byHash.get(sha256) === entry) this.#byHash.delete(sha256)
    return entry
  }

  #unlist(entry: Entry): void {
    const { accountId } = entry.record
    const accounts = this.#byAccount[kindOf(entry.record)]
    const entries = accounts.get(accountId)
    entries?.remove(entry)
    if (entries?.size === 0) accounts.delete(accountId)
  }

  #toCaller(record: ApiKey, presentedSha256: string): Caller {
    const { accountId, id: keyId, sha256, token } = record
    const stop = this.#stops === undefined ? undefined : stopOfToken(this.#stops, record)
    const limits = limitsWithin(this.#limitsOf(accountId), token)
    const caller: Caller = {
      accountId,
      keyId,
      limits,
      owner: presentedSha256,
      fixed: fixedBy(record),
      ...(token === undefined ? {} : { token, stop }),
    }
    return presentedSha256 === sha256 ? caller : { ...caller, isOldText: true }
  }
}

function kindOf({ token }: ApiKey): KeyKind {
  return token === undefined ? 'key' : 'token'
}

function fixedBy({ user, tags = [], token }: ApiKey): FixedAttribution | undefined {
  const owner = token?.owner ?? undefined
  if (user == null && owner === undefined && tags.length === 0) return undefined
  return {
    user: owner?.type === 'member' ? owner.id : (user ?? undefined),
    ownerTag: owner?.type === 'tag' ? owner.id : undefined,
    tags,
  }
}

function limitsWithin(limits: KeyLimits, token: TokenRules | undefined): KeyLimits {
  if (token === undefined) return limits
  return {
    ...limits,
    requestsPerMinute: Math.min(limits.requestsPerMinute, token.requestsPerMinute ?? Infinity),
    tokensPerMinute: Math.min(limits.tokensPerMinute, token.tokensPerMinute ?? Infinity),
    concurrentCalls: Math.min(limits.concurrentCalls, token.concurrentCalls ?? Infinity),
  }
}

function hashesOf({ sha256, previous }: ApiKey): readonly string[] {
  return previous === null ? [sha256] : [sha256, previous.sha256]
}

/**
 * When the text with this hash expires, in milliseconds since the Unix epoch; null while the text
 * never expires.
 */
function endOf({ sha256, expiresAt, previous }: ApiKey, presentedSha256: string): number | null {
  if (previous === null || presentedSha256 === sha256) return expiresAt
  return Math.min(previous.endsAt, expiresAt ?? previous.endsAt)
}

function isSame(known: ApiKey, record: ApiKey): boolean {
  return (
    known.sha256 === record.sha256 &&
    known.name === record.name &&
    known.expiresAt === record.expiresAt &&
    known.previous?.sha256 === record.previous?.sha256 &&
    known.previous?.endsAt === record.previous?.endsAt &&
    isDeepStrictEqual(known.token, record.token) &&
    isDeepStrictEqual(fixedBy(known), fixedBy(record))
  )
}

function latest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.max(one, other)
}

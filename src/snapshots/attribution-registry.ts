/**
 * The accounts' settings of attribution and their hash keys in memory (decision 0121). Every node
 * computes the same hash of a name.
 */
import { randomBytes } from 'node:crypto'
import {
  type AttributionSettings,
  DEFAULT_ATTRIBUTION,
  type HashedKind,
  hashKeyBinding,
} from '../core/attribution.ts'
import { type Stopwatch, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import type { Vault } from '../core/vault.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { AttributionTableStore, StoredAttribution } from '../store/resources/attribution.ts'
import { RecentHashes } from './recent-hashes.ts'
import { Snapshot, withChanges } from './snapshot.ts'

export interface AttributionRegistryOptions {
  readonly attribution: Pick<
    AttributionTableStore,
    'loadAll' | 'findSome' | 'listAccountsWithout' | 'insertMissing' | 'change' | 'replaceKey'
  >
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>
  /** False while encrypting would create a master key that other nodes do not have. */
  readonly mayEncrypt: () => boolean
  /** Called at the start when an account has no hash key and none may be created. */
  readonly onNoMasterKey?: () => void
  readonly clock?: Pick<Stopwatch, 'elapsed'>
  /** Called when an account's hash key cannot be decrypted or created. */
  readonly onFailure: (error: unknown, accountId: AccountId | undefined) => void
}

interface Entry {
  readonly sealedHashKey: string
  readonly settings: AttributionSettings
  /** Undefined: the key cannot be decrypted, so no name is hashed. */
  readonly hashKey: Buffer | undefined
}

const HASH_KEY_BYTES = 32
const HASH_CHARACTERS = 16
/** Pause between searches for a master key, because a search reads a file. */
const LOOK_FOR_KEY_MS = 60_000

export class AttributionRegistry extends Snapshot<Entry, StoredAttribution> {
  readonly #options: AttributionRegistryOptions
  readonly #recent = new RecentHashes()
  readonly #asked = new Set<AccountId>()
  #nextLookMs = 0

  private constructor(options: AttributionRegistryOptions) {
    super(options.attribution)
    this.#options = options
  }

  /** Creates the hash key of each account that lacks one. */
  static async load(options: AttributionRegistryOptions): Promise<AttributionRegistry> {
    const registry = new AttributionRegistry(options)
    const without = await options.attribution.listAccountsWithout()
    if (options.mayEncrypt()) await registry.#create(without)
    else if (without.length > 0) options.onNoMasterKey?.()
    await registry.followAll()
    return registry
  }

  settingsOf(accountId: AccountId): AttributionSettings {
    const entry = this.held(accountId, accountId)
    if (entry === undefined) this.#ensureLater(accountId)
    return entry?.settings ?? DEFAULT_ATTRIBUTION
  }

  /**
   * The first 64 bits of an HMAC-SHA-256, in hexadecimal.
   * @param scope the key's id for a session, the session's hash for an agent, otherwise the account's
   * id: the same name has another hash in another scope
   * @returns undefined when the account's hash key is not available
   */
  hash(
    accountId: AccountId,
    kind: HashedKind,
    name: string,
    scope: string = accountId,
  ): string | undefined {
    // A look-up may name the key or session of another account as the scope.
    const place = scope === accountId ? scope : `${accountId}/${scope}`
    const known = this.#recent.get(kind, place, name)
    if (known !== undefined) return known
    const hashKey = this.held(accountId, accountId)?.hashKey
    if (hashKey === undefined) return undefined
    const hash = toHash(hashKey, [accountId, kind, scope, name])
    this.#recent.put(kind, place, name, hash)
    return hash
  }

  /** For a new account. Does nothing when the account has a key. */
  ensure(accountId: AccountId): Promise<void> {
    return this.inTurn(async () => {
      if (this.held(accountId, accountId) !== undefined) return
      await this.#create([accountId])
      const [stored] = await this.#options.attribution.findSome([{ accountId, id: accountId }])
      if (stored !== undefined) this.adopt(stored)
    })
  }

  /** @throws GatewayError `unavailable` when the account has no settings yet */
  async change(
    accountId: AccountId,
    changes: {
      readonly [Name in keyof AttributionSettings]?: AttributionSettings[Name] | undefined
    },
  ): Promise<AttributionSettings> {
    await this.ensure(accountId)
    return await this.inTurn(async () => {
      const stored = await this.#options.attribution.change(accountId, (previous) =>
        withChanges(previous, changes),
      )
      if (stored === undefined) throw noHashKey()
      this.adopt(stored)
      return stored.settings
    })
  }

  /**
   * Erases all end users of the account: their hashes cannot be computed again.
   * @returns the ids of the budgets whose hashes changed
   * @throws GatewayError `unavailable` when the account has no hash key yet
   */
  async replaceKey(accountId: AccountId): Promise<readonly string[]> {
    await this.ensure(accountId)
    return await this.inTurn(async () => {
      const made = this.#makeKey(accountId)
      const hashKey = this.#open(made)
      if (hashKey === undefined) throw noHashKey()
      const replaced = await this.#options.attribution.replaceKey(
        accountId,
        made.sealedHashKey,
        (kind, name) => toHash(hashKey, [accountId, kind, accountId, name]),
      )
      if (replaced === undefined) throw noHashKey()
      this.adopt(replaced.stored)
      return replaced.budgetIds
    })
  }

  /**
   * @returns whether an encrypted text holds the account's present key, also after a rotation of the
   * master key
   */
  checkOf(accountId: AccountId): (sealedHashKey: string) => boolean {
    const present = this.held(accountId, accountId)
    return (sealedHashKey) => {
      if (present?.hashKey === undefined) return false
      if (sealedHashKey === present.sealedHashKey) return true
      const { settings } = present
      return this.#open({ accountId, sealedHashKey, settings })?.equals(present.hashKey) === true
    }
  }

  protected nameOf({ accountId }: StoredAttribution): NamedThing {
    return { accountId, id: accountId }
  }

  protected adopt(stored: StoredAttribution): void {
    const { accountId, sealedHashKey, settings } = stored
    const known = this.held(accountId, accountId)
    const hashKey =
      known?.sealedHashKey === sealedHashKey && known.hashKey !== undefined
        ? known.hashKey
        : this.#open(stored)
    // A new key makes every remembered hash wrong; a rotation of the master key keeps them right.
    if (known?.hashKey !== undefined && hashKey?.equals(known.hashKey) !== true)
      this.#recent.clear()
    this.hold({ accountId, id: accountId }, { sealedHashKey, settings, hashKey })
  }

  protected override forget(accountId: AccountId, id: string): void {
    super.forget(accountId, id)
    this.#recent.clear()
  }

  #open({ accountId, sealedHashKey }: StoredAttribution): Buffer | undefined {
    try {
      const text = this.#options.vault.decrypt(sealedHashKey, hashKeyBinding(accountId)).reveal()
      return Buffer.from(text, 'base64')
    } catch (error) {
      this.#options.onFailure(error, accountId)
      return undefined
    }
  }

  /** Calls continue without attribution when the master key cannot be used. */
  async #create(accountIds: readonly AccountId[]): Promise<void> {
    if (accountIds.length === 0) return
    let missing: StoredAttribution[]
    try {
      missing = accountIds.map((accountId) => this.#makeKey(accountId))
    } catch (error) {
      this.#options.onFailure(error, undefined)
      return
    }
    await this.#options.attribution.insertMissing(missing)
  }

  #makeKey(accountId: AccountId): StoredAttribution {
    const hashKey = new Secret(randomBytes(HASH_KEY_BYTES).toString('base64'))
    const sealedHashKey = this.#options.vault.encrypt(hashKey, hashKeyBinding(accountId))
    return { accountId, sealedHashKey, settings: DEFAULT_ATTRIBUTION }
  }

  /**
   * An older node may have created the account, or the first master key may exist meanwhile. Tried
   * once per account and process with a master key.
   */
  #ensureLater(accountId: AccountId): void {
    if (this.#asked.has(accountId)) return
    const { mayEncrypt, clock = systemClock } = this.#options
    if (clock.elapsed() < this.#nextLookMs) return
    if (!mayEncrypt()) {
      this.#nextLookMs = clock.elapsed() + LOOK_FOR_KEY_MS
      return
    }
    this.#asked.add(accountId)
    this.ensure(accountId).catch((error: unknown) => this.#options.onFailure(error, accountId))
  }
}

function toHash(
  hashKey: Buffer,
  parts: readonly [accountId: AccountId, kind: HashedKind, scope: string, name: string],
): string {
  return new Bun.CryptoHasher('sha256', hashKey)
    .update(JSON.stringify(parts))
    .digest('hex')
    .slice(0, HASH_CHARACTERS)
}

function noHashKey(): GatewayError {
  return new GatewayError('unavailable', 'The account has no hash key. Try again soon.')
}

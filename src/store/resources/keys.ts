/** API keys in the database. A row has only the hash and the masked prefix of a key. */

import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import type { TokenRules } from '../../core/access-token.ts'
import { type ApiKey, type PreviousKey, toPublicKey } from '../../core/api-key.ts'
import type { AccountId, KeyId } from '../../core/ids.ts'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../../core/plan.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { relieveLog } from '../database/checkpoint-thread.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import { insertWithinCap } from '../database/insert-within-cap.ts'
import type { ApiKeyTable, Schema } from '../schema.ts'
import { saveLastUses, type UsedThings } from './save-last-used.ts'
import { createTextSharing } from './share-texts.ts'

const ROWS_AT_ONCE = 2_000
const IDS_AT_ONCE = 500

/** The key was deleted before, which is final, so nothing was changed. */
export class DeletedKeyError extends Error {
  override readonly name = 'DeletedKeyError'
}

export class KeyTableStore {
  readonly #database: Kysely<Schema>
  readonly #sync: () => Promise<void>
  readonly #caps: AccountCaps
  readonly #uses: UsedThings = { table: 'api_keys', key: ['id'], statements: new Map() }

  constructor(
    database: Kysely<Schema>,
    sync: () => Promise<void>,
    caps: AccountCaps = DEFAULT_ACCOUNT_CAPS,
  ) {
    this.#database = database
    this.#sync = sync
    this.#caps = caps
  }

  async loadAll(): Promise<ApiKey[]> {
    const keys: ApiKey[] = []
    const share = createTextSharing()
    const toRules = createRulesSharing()
    for (let last: ApiKey | undefined; ; last = keys.at(-1)) {
      const query = this.#database
        .selectFrom('api_keys')
        .selectAll()
        .orderBy('id')
        .limit(ROWS_AT_ONCE)
      const rows = await (last === undefined ? query : query.where('id', '>', last.id)).execute()
      for (const row of rows)
        keys.push(
          toApiKey(
            { ...row, account_id: share(row.account_id), created_by: share(row.created_by) },
            toRules,
          ),
        )
      if (rows.length < ROWS_AT_ONCE) return keys
    }
  }

  findSome(things: readonly NamedThing[]): Promise<readonly (ApiKey | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'api_keys', idColumn: 'id', toStored: toApiKey },
      things,
    )
  }

  /**
   * @returns false when a key with this hash or id exists already, in any account
   * @throws DeletedKeyError; GatewayError `conflict` when the account has too many
   */
  async insert(
    key: ApiKey,
    action: KeyOrigin = 'key.create',
    { spellings = [], held }: InsertOptions = {},
  ): Promise<boolean> {
    const capped = { thing: 'keys', accountId: key.accountId, caps: this.#caps, held } as const
    return await insertWithinCap(this.#database, capped, (transaction) =>
      insert(transaction, key, action, spellings),
    )
  }

  /**
   * Inserts an account's first key. Of several concurrent nodes only one succeeds.
   * @returns the account's current keys; empty when the key belongs to another account
   */
  async insertFirst(
    key: ApiKey,
    action: KeyOrigin,
    spellings: readonly string[] = [],
  ): Promise<readonly ApiKey[]> {
    return await changeAccount(this.#database, key.accountId, async (transaction) => {
      const others = await transaction
        .selectFrom('api_keys')
        .selectAll()
        .where('account_id', '=', key.accountId)
        .execute()
      if (others.length > 0) return others.map((row) => toApiKey(row))
      return (await insert(transaction, key, action, spellings)) ? [key] : []
    })
  }

  /**
   * Replaces a key with the result of `change`, while the account is locked. Durable when this
   * resolves: a replaced text is never accepted again, even after a power failure.
   * @returns the updated key; undefined when the account has no key with this id
   */
  async change(
    accountId: AccountId,
    keyId: KeyId,
    { action, change }: KeyChange,
  ): Promise<ApiKey | undefined> {
    const changed = await changeAccount(this.#database, accountId, async (transaction) => {
      const row = await transaction
        .selectFrom('api_keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', '=', keyId)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const before = toApiKey(row)
      const after = change(before)
      const { previous } = after
      await transaction
        .updateTable('api_keys')
        .set({
          name: after.name,
          sha256: after.sha256,
          masked_prefix: after.maskedPrefix,
          expires_at: after.expiresAt,
          previous_sha256: previous?.sha256 ?? null,
          previous_masked_prefix: previous?.maskedPrefix ?? null,
          previous_ends_at: previous?.endsAt ?? null,
          token: toStoredRules(after.token),
          ...toFixedColumns(after),
        })
        .where('account_id', '=', accountId)
        .where('id', '=', keyId)
        .execute()
      const forms = { before: toPublicKey(before), after: toPublicKey(after) }
      await recordChange(transaction, { accountId, action, resourceId: keyId, ...forms })
      return after
    })
    await this.#sync()
    return changed
  }

  /**
   * The account's tokens that end within a time and whose end was not announced, the first end
   * first.
   * @param leastLifeMs tokens with a shorter life are left out
   */
  async listEnding(
    accountId: AccountId,
    { fromMs, toMs, leastLifeMs, limit }: EndingTokens,
  ): Promise<readonly ApiKey[]> {
    const rows = await this.#database
      .selectFrom('api_keys')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('expires_at', '>', fromMs)
      .where('expires_at', '<=', toMs)
      .where('token', 'is not', null)
      .where(({ eb, ref }) => eb(eb('expires_at', '-', ref('created_at')), '>=', leastLifeMs))
      .where(({ or, eb, ref }) =>
        or([eb('announced_end', 'is', null), eb('announced_end', '<>', ref('expires_at'))]),
      )
      .orderBy('expires_at')
      .limit(limit)
      .execute()
    return rows.map((row) => toApiKey(row))
  }

  /** Durable when this resolves, so a revoked key does not return after a power failure. */
  async delete(accountId: AccountId, keyId: KeyId): Promise<boolean> {
    const wasThere = await this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .deleteFrom('api_keys')
        .where('account_id', '=', accountId)
        .where('id', '=', keyId)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return false
      // A trigger has recorded the row, without the name.
      await transaction
        .updateTable('deleted_keys')
        .set({ name: row.name })
        .where('account_id', '=', accountId)
        .where('key_id', '=', keyId)
        .where('sha256', '=', row.sha256)
        .execute()
      // The stop is deleted after the key, because nodes apply changes in order, and a stopped
      // token must stay refused.
      await transaction
        .deleteFrom('stops')
        .where('account_id', '=', accountId)
        .where('id', '=', keyId)
        .execute()
      const before = toPublicKey(toApiKey(row))
      await recordChange(transaction, {
        accountId,
        action: 'key.delete',
        resourceId: keyId,
        before,
        after: null,
      })
      return true
    })
    await this.#sync()
    return wasThere
  }

  /**
   * The last names of deleted keys, while their usage can be read. Older versions did not record
   * names.
   */
  async findDeletedNames(
    accountId: AccountId,
    keyIds: readonly KeyId[],
  ): Promise<ReadonlyMap<KeyId, string>> {
    const names = new Map<KeyId, string>()
    for (let at = 0; at < keyIds.length; at += IDS_AT_ONCE) {
      const rows = await this.#database
        .selectFrom('deleted_keys')
        .select(['key_id', 'name'])
        .where('account_id', '=', accountId)
        .where('key_id', 'in', keyIds.slice(at, at + IDS_AT_ONCE))
        .where('name', 'is not', null)
        .execute()
      for (const { key_id: id, name } of rows) if (name !== null) names.set(id, name)
    }
    return names
  }

  /**
   * Writes last-used times (milliseconds since the Unix epoch). Skips unknown keys, and later uses
   * that another node has recorded.
   */
  async saveLastUsed(lastUsed: ReadonlyMap<KeyId, number>): Promise<void> {
    const uses = Array.from(lastUsed, ([id, at]) => ({ key: [id], at }))
    await saveLastUses(this.#database, this.#uses, uses)
    await relieveLog(this.#database, uses.length)
  }
}

interface EndingTokens {
  readonly fromMs: number
  readonly toMs: number
  readonly leastLifeMs: number
  readonly limit: number
}

export interface KeyChange {
  readonly action: 'key.update' | 'key.rotate'
  readonly change: (key: ApiKey) => ApiKey
}

interface InsertOptions {
  /** Hashes under which the same key may have been deleted; none for a newly generated key. */
  readonly spellings?: readonly string[]
  /** How many keys and access tokens of the account this node holds. */
  readonly held?: number
}

type KeyOrigin = 'key.create' | 'key.import'

async function insert(
  transaction: Transaction<Schema>,
  key: ApiKey,
  action: KeyOrigin,
  spellings: readonly string[],
): Promise<boolean> {
  const result = await transaction
    .insertInto('api_keys')
    .values(toKeyRow(key))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (Number(result.numInsertedOrUpdatedRows ?? 0) !== 1) return false
  // Checked after the insert, which waits for a concurrent deletion of the same key.
  if (await isDeleted(transaction, spellings)) throw new DeletedKeyError('The key was deleted.')
  const { accountId, id: resourceId } = key
  await recordChange(transaction, {
    accountId,
    action,
    resourceId,
    before: null,
    after: toPublicKey(key),
  })
  return true
}

export function toKeyRow(key: ApiKey): Insertable<ApiKeyTable> {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    sha256: key.sha256,
    masked_prefix: key.maskedPrefix,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    created_by: key.createdBy,
    expires_at: key.expiresAt,
    token: toStoredRules(key.token),
    ...toFixedColumns(key),
  }
}

function toFixedColumns({ user = null, tags = [] }: ApiKey) {
  return { fixed_user: user, fixed_tags: tags.length === 0 ? null : JSON.stringify(tags) }
}

async function isDeleted(
  transaction: Transaction<Schema>,
  spellings: readonly string[],
): Promise<boolean> {
  if (spellings.length === 0) return false
  const row = await transaction
    .selectFrom('deleted_keys')
    .select('sha256')
    .where('sha256', 'in', spellings)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

function toApiKey(row: Selectable<ApiKeyTable>, toRules = parseRules): ApiKey {
  return {
    accountId: row.account_id,
    id: row.id,
    name: row.name,
    sha256: row.sha256,
    maskedPrefix: row.masked_prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    previous: toPrevious(row),
    ...(row.token === null ? {} : { token: toRules(row.token) }),
    ...(row.fixed_user === null ? {} : { user: row.fixed_user }),
    ...(row.fixed_tags === null ? {} : { tags: JSON.parse(row.fixed_tags) as string[] }),
  }
}

function parseRules(text: string): TokenRules {
  return JSON.parse(text) as TokenRules
}

/** Most tokens of an account have the rules of others. */
function createRulesSharing(): typeof parseRules {
  const known = new Map<string, TokenRules>()
  return (text) => {
    const rules = known.get(text) ?? parseRules(text)
    known.set(text, rules)
    return rules
  }
}

function toStoredRules(token: TokenRules | undefined): string | null {
  return token === undefined ? null : JSON.stringify(token)
}

function toPrevious(row: Selectable<ApiKeyTable>): PreviousKey | null {
  const {
    previous_sha256: sha256,
    previous_masked_prefix: maskedPrefix,
    previous_ends_at: endsAt,
  } = row
  return sha256 === null || maskedPrefix === null || endsAt === null
    ? null
    : { sha256, maskedPrefix, endsAt }
}

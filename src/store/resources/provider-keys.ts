import type { Kysely, Selectable } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { type ProviderKey, toPublicProviderKey } from '../../core/provider-key.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { relieveLog } from '../database/checkpoint-thread.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import type { ProviderKeyTable, Schema } from '../schema.ts'
import { saveLastUses, type UsedThings } from './save-last-used.ts'

export interface SealedProviderKey {
  readonly key: ProviderKey
  /** Encrypted by the vault, bound to the account and the provider. */
  readonly sealed: string
}

/** When a key was last used, in milliseconds since the Unix epoch. */
export interface ProviderKeyUse {
  readonly accountId: AccountId
  readonly providerId: string
  readonly lastUsedAt: number
}

export class ProviderKeyTableStore {
  readonly #database: Kysely<Schema>
  readonly #sync: () => Promise<void>
  readonly #uses: UsedThings = {
    table: 'provider_keys',
    key: ['account_id', 'provider'],
    statements: new Map(),
  }

  constructor(database: Kysely<Schema>, sync: () => Promise<void>) {
    this.#database = database
    this.#sync = sync
  }

  async loadAll(): Promise<SealedProviderKey[]> {
    const rows = await this.#database.selectFrom('provider_keys').selectAll().execute()
    return rows.map(toSealedProviderKey)
  }

  findSome(things: readonly NamedThing[]): Promise<readonly (SealedProviderKey | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'provider_keys', idColumn: 'provider', toStored: toSealedProviderKey },
      things,
    )
  }

  async save({ key, sealed }: SealedProviderKey): Promise<void> {
    const columns = {
      sealed_key: sealed,
      masked_key: key.maskedKey,
      active: key.isActive ? 1 : 0,
      created_at: key.createdAt,
      updated_at: key.updatedAt,
      last_used_at: key.lastUsedAt,
    }
    await changeAccount(this.#database, key.accountId, async (transaction) => {
      const previous = (await find(transaction, key.accountId, key.providerId))?.key
      await transaction
        .insertInto('provider_keys')
        .values({ account_id: key.accountId, provider: key.providerId, ...columns })
        .onConflict((conflict) => conflict.columns(['account_id', 'provider']).doUpdateSet(columns))
        .execute()
      await recordChange(transaction, {
        accountId: key.accountId,
        action: previous === undefined ? 'provider-key.create' : 'provider-key.update',
        resourceId: key.providerId,
        before: previous === undefined ? null : toPublicProviderKey(previous),
        after: toPublicProviderKey(key),
      })
    })
  }

  /**
   * Leaves the encrypted key unchanged, because another process may be re-encrypting it.
   * @returns false when the provider key does not exist
   */
  async saveActive(key: ProviderKey): Promise<boolean> {
    return await changeAccount(this.#database, key.accountId, async (transaction) => {
      const previous = (await find(transaction, key.accountId, key.providerId))?.key
      if (previous === undefined) return false
      await transaction
        .updateTable('provider_keys')
        .set({ active: key.isActive ? 1 : 0, updated_at: key.updatedAt })
        .where('account_id', '=', key.accountId)
        .where('provider', '=', key.providerId)
        .execute()
      await recordChange(transaction, {
        accountId: key.accountId,
        action: 'provider-key.update',
        resourceId: key.providerId,
        before: toPublicProviderKey(previous),
        after: toPublicProviderKey(key),
      })
      return true
    })
  }

  /** Durable when this resolves, so a deleted key does not return after a power failure. */
  async delete(accountId: AccountId, providerId: string): Promise<boolean> {
    const wasThere = await changeAccount(this.#database, accountId, async (transaction) => {
      const row = await transaction
        .deleteFrom('provider_keys')
        .where('account_id', '=', accountId)
        .where('provider', '=', providerId)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return false
      await recordChange(transaction, {
        accountId,
        action: 'provider-key.delete',
        resourceId: providerId,
        before: toPublicProviderKey(toSealedProviderKey(row).key),
        after: null,
      })
      return true
    })
    await this.#sync()
    return wasThere
  }

  async saveLastUsed(uses: readonly ProviderKeyUse[]): Promise<void> {
    const rows = uses.map(({ accountId, providerId, lastUsedAt: at }) => ({
      key: [accountId, providerId],
      at,
    }))
    await saveLastUses(this.#database, this.#uses, rows)
    await relieveLog(this.#database, rows.length)
  }
}

async function find(
  database: Kysely<Schema>,
  accountId: AccountId,
  providerId: string,
): Promise<SealedProviderKey | undefined> {
  const row = await database
    .selectFrom('provider_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('provider', '=', providerId)
    .executeTakeFirst()
  return row === undefined ? undefined : toSealedProviderKey(row)
}

function toSealedProviderKey(row: Selectable<ProviderKeyTable>): SealedProviderKey {
  return {
    sealed: row.sealed_key,
    key: {
      accountId: row.account_id,
      providerId: row.provider,
      maskedKey: row.masked_key,
      isActive: row.active === 1,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      lastUsedAt: row.last_used_at,
    },
  }
}

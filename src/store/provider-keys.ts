/** Provider keys in the database: sealed and masked only. The key itself never comes this far. */
import type { Kysely, Selectable } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import type { ProviderKey } from '../core/provider-key.ts'
import type { ProviderKeyTable, Schema } from './schema.ts'

export interface SealedProviderKey {
  readonly key: ProviderKey
  /** By the vault, bound to the account and the provider. */
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

  constructor(database: Kysely<Schema>, sync: () => Promise<void>) {
    this.#database = database
    this.#sync = sync
  }

  /** Every key of every account, for the snapshot at start. */
  async loadAll(): Promise<SealedProviderKey[]> {
    const rows = await this.#database.selectFrom('provider_keys').selectAll().execute()
    return rows.map(toSealedProviderKey)
  }

  /** Makes the row, or replaces all of it. */
  async save({ key, sealed }: SealedProviderKey): Promise<void> {
    const columns = {
      sealed_key: sealed,
      masked_key: key.maskedKey,
      active: key.isActive ? 1 : 0,
      created_at: key.createdAt,
      updated_at: key.updatedAt,
      last_used_at: key.lastUsedAt,
    }
    await this.#database
      .insertInto('provider_keys')
      .values({ account_id: key.accountId, provider: key.providerId, ...columns })
      .onConflict((conflict) => conflict.columns(['account_id', 'provider']).doUpdateSet(columns))
      .execute()
  }

  /** Leaves the sealed key alone: another process may be sealing it anew. @returns false when there is none */
  async saveActive(key: ProviderKey): Promise<boolean> {
    const result = await this.#database
      .updateTable('provider_keys')
      .set({ active: key.isActive ? 1 : 0, updated_at: key.updatedAt })
      .where('account_id', '=', key.accountId)
      .where('provider', '=', key.providerId)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }

  /** Gone for good when this resolves, even if the power fails: a deleted key must not come back. */
  async delete(accountId: AccountId, providerId: string): Promise<boolean> {
    const result = await this.#database
      .deleteFrom('provider_keys')
      .where('account_id', '=', accountId)
      .where('provider', '=', providerId)
      .executeTakeFirst()
    await this.#sync()
    return Number(result.numDeletedRows) === 1
  }

  /** Keys that are gone are passed over. */
  async saveLastUsed(uses: readonly ProviderKeyUse[]): Promise<void> {
    for (const { accountId, providerId, lastUsedAt } of uses) {
      await this.#database
        .updateTable('provider_keys')
        .set({ last_used_at: lastUsedAt })
        .where('account_id', '=', accountId)
        .where('provider', '=', providerId)
        .execute()
    }
  }
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

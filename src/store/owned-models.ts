/** Owned models in the database, each with its credential as the vault closed it. Trusts what it is given. */
import type { Insertable, Kysely, Selectable } from 'kysely'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../core/account-caps.ts'
import type { AccountId } from '../core/ids.ts'
import {
  isSameQuestion,
  type OwnedModel,
  type OwnedModelProbe,
  toPublicOwnedModel,
} from '../core/owned-model.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { findSome, type NamedThing } from './find-some.ts'
import { insertWithinCap } from './insert-within-cap.ts'
import type { OwnedModelTable, Schema } from './schema.ts'

export interface StoredOwnedModel {
  readonly model: OwnedModel
  /** Encrypted (core/vault.ts). */
  readonly sealedCredential: string
}

export interface ChangedOwnedModel {
  readonly model: OwnedModel
  readonly sealedCredential?: string | undefined
}

export class OwnedModelTableStore {
  readonly #database: Kysely<Schema>
  readonly #caps: AccountCaps

  constructor(database: Kysely<Schema>, caps: AccountCaps = DEFAULT_ACCOUNT_CAPS) {
    this.#database = database
    this.#caps = caps
  }

  /** Every owned model of every account, for the snapshot at start. */
  async loadAll(): Promise<StoredOwnedModel[]> {
    const rows = await this.#database.selectFrom('owned_models').selectAll().execute()
    return rows.map(toStored)
  }

  /** One for each that is asked for; undefined where there is none. */
  findSome(things: readonly NamedThing[]): Promise<readonly (StoredOwnedModel | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'owned_models', idColumn: 'slug', toStored: toStored },
      things,
    )
  }

  /**
   * @returns false when the account has an owned model with this slug already.
   * @throws GatewayError `conflict` when it has too many
   */
  async insert(stored: StoredOwnedModel): Promise<boolean> {
    const { accountId, slug, dialect, baseUrl, createdAt } = stored.model
    const capped = { thing: 'ownedModels', accountId, caps: this.#caps } as const
    return await insertWithinCap(this.#database, capped, async (transaction) => {
      const result = await transaction
        .insertInto('owned_models')
        .values({
          account_id: accountId,
          slug,
          dialect,
          base_url: baseUrl,
          created_at: createdAt,
          sealed_credential: stored.sealedCredential,
          probe: toText(stored.model.probe),
          ...toMutableColumns(stored.model),
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (Number(result.numInsertedOrUpdatedRows ?? 0) !== 1) return false
      const after = toPublicOwnedModel(stored.model)
      await recordChange(transaction, {
        accountId,
        action: 'owned-model.create',
        resourceId: slug,
        before: null,
        after,
      })
      return true
    })
  }

  /**
   * Writes everything that may change; the credential only where there is a new one, because a rotation of the master key
   * may have sealed the present one anew. The last probe's result is replaced where it says nothing any more.
   * @returns false when there is no such model.
   */
  async save({ model, sealedCredential }: ChangedOwnedModel): Promise<boolean> {
    const { accountId, slug } = model
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const previous = (await find(transaction, accountId, slug))?.model
      if (previous === undefined) return false
      await transaction
        .updateTable('owned_models')
        .set({
          ...toMutableColumns(model),
          ...(sealedCredential === undefined ? {} : { sealed_credential: sealedCredential }),
          ...(isSameQuestion(previous, model) ? {} : { probe: toText(model.probe) }),
        })
        .where('account_id', '=', accountId)
        .where('slug', '=', slug)
        .execute()
      const [before, after] = [toPublicOwnedModel(previous), toPublicOwnedModel(model)]
      await recordChange(transaction, {
        accountId,
        action: 'owned-model.update',
        resourceId: slug,
        before,
        after,
      })
      return true
    })
  }

  /**
   * Writes what a probe has found, which nobody has set and no log is told of.
   * @returns false when there is no such model, or it is not the one any more that was asked
   */
  async saveProbe(model: OwnedModel): Promise<boolean> {
    const result = await this.#database
      .updateTable('owned_models')
      .set({ probe: toText(model.probe) })
      .where('account_id', '=', model.accountId)
      .where('slug', '=', model.slug)
      .where('upstream_model_id', '=', model.upstreamModelId)
      .where('credential_header', '=', model.credentialHeader)
      .where('fim_endpoint', '=', model.fimEndpoint)
      .where('fim_template', '=', model.fimTemplate)
      .where('credential_set_at', '=', model.credentialSetAt)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }

  async delete(accountId: AccountId, slug: string): Promise<boolean> {
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const row = await transaction
        .deleteFrom('owned_models')
        .where('account_id', '=', accountId)
        .where('slug', '=', slug)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return false
      const before = toPublicOwnedModel(toOwnedModel(row))
      await recordChange(transaction, {
        accountId,
        action: 'owned-model.delete',
        resourceId: slug,
        before,
        after: null,
      })
      return true
    })
  }
}

async function find(
  database: Kysely<Schema>,
  accountId: AccountId,
  slug: string,
): Promise<StoredOwnedModel | undefined> {
  const row = await database
    .selectFrom('owned_models')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  return row === undefined ? undefined : toStored(row)
}

type OtherColumns =
  | 'account_id'
  | 'slug'
  | 'dialect'
  | 'base_url'
  | 'created_at'
  | 'sealed_credential'
  | 'probe'

function toMutableColumns(model: OwnedModel): Omit<Insertable<OwnedModelTable>, OtherColumns> {
  return {
    display_name: model.displayName,
    upstream_model_id: model.upstreamModelId,
    credential_header: model.credentialHeader,
    fim_endpoint: model.fimEndpoint,
    fim_template: model.fimTemplate,
    pricing_input: model.pricingInput,
    pricing_output: model.pricingOutput,
    pricing_cached_input: model.pricingCachedInput,
    credential_set_at: model.credentialSetAt,
    no_credential_since: model.hasCredential ? null : model.credentialSetAt,
    updated_at: model.updatedAt,
  }
}

function toStored(row: Selectable<OwnedModelTable>): StoredOwnedModel {
  return { model: toOwnedModel(row), sealedCredential: row.sealed_credential }
}

function toOwnedModel(row: Selectable<OwnedModelTable>): OwnedModel {
  return {
    accountId: row.account_id,
    slug: row.slug,
    displayName: row.display_name,
    dialect: row.dialect,
    baseUrl: row.base_url,
    upstreamModelId: row.upstream_model_id,
    credentialHeader: row.credential_header,
    hasCredential: row.no_credential_since !== row.credential_set_at,
    fimEndpoint: row.fim_endpoint,
    fimTemplate: row.fim_template,
    probe: row.probe === null ? null : (JSON.parse(row.probe) as OwnedModelProbe),
    pricingInput: row.pricing_input,
    pricingOutput: row.pricing_output,
    pricingCachedInput: row.pricing_cached_input,
    credentialSetAt: row.credential_set_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function toText(probe: OwnedModelProbe | null): string | null {
  return probe === null ? null : JSON.stringify(probe)
}

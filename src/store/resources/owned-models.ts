import type { Insertable, Kysely, Selectable } from 'kysely'
import {
  isSameQuestion,
  type OwnedModel,
  type OwnedModelProbe,
  toPublicOwnedModel,
} from '../../core/owned-model.ts'
import type { AccountCaps } from '../../core/plan.ts'
import type { OwnedModelTable, Schema } from '../schema.ts'
import { ResourceStore, type StoredKind } from './resource-store.ts'

export interface StoredOwnedModel {
  readonly model: OwnedModel
  /** Encrypted (core/vault.ts). */
  readonly sealedCredential: string
}

/**
 * A credential is written only when it is new, because a rotation of the master key may have
 * re-encrypted the current credential.
 */
export interface ChangedOwnedModel {
  readonly model: OwnedModel
  readonly sealedCredential?: string | undefined
}

const ownedModelKind: StoredKind<'owned-model', ChangedOwnedModel, StoredOwnedModel> = {
  word: 'owned-model',
  idColumn: 'slug',
  mayClash: true,
  nameOf: ({ model: { accountId, slug } }) => ({ accountId, id: slug }),
  toRow: ({ model, sealedCredential }) => ({
    account_id: model.accountId,
    slug: model.slug,
    dialect: model.dialect,
    base_url: model.baseUrl,
    created_at: model.createdAt,
    sealed_credential: sealedCredential,
    probe: toText(model.probe),
    ...toMutableColumns(model),
  }),
  toChanges: ({ model, sealedCredential }, previous) => ({
    ...toMutableColumns(model),
    ...(sealedCredential === undefined ? {} : { sealed_credential: sealedCredential }),
    ...(isSameQuestion(previous.model, model) ? {} : { probe: toText(model.probe) }),
  }),
  createReader: () => toStored,
  toPublic: ({ model }) => toPublicOwnedModel(model),
}

export class OwnedModelTableStore extends ResourceStore<
  'owned-model',
  ChangedOwnedModel,
  StoredOwnedModel
> {
  constructor(database: Kysely<Schema>, caps?: AccountCaps) {
    super(database, ownedModelKind, caps)
  }

  async saveProbe(model: OwnedModel): Promise<boolean> {
    const result = await this.database
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

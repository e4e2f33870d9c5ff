/** An owned model: one that a customer hosts or pays for, addressed by its slug. Its credential is never a part of it. */
import type { AccountId } from './ids.ts'

/** The formats that an owned model may speak (design §5). */
export const OWNED_MODEL_DIALECTS = [
  'openai-chat',
  'openai-responses',
  'mistral-fim',
  'anthropic-messages',
] as const

export type OwnedModelDialect = (typeof OWNED_MODEL_DIALECTS)[number]

/** The part of a target before the slash that says: what follows is a slug of the account. */
export const OWNED_PREFIX = 'owned'

/** Declared by the customer, in whole US cents per million tokens. */
export interface OwnedModelPrices {
  readonly pricingInput: number
  readonly pricingOutput: number
  readonly pricingCachedInput: number
}

export interface OwnedModel extends OwnedModelPrices {
  readonly accountId: AccountId
  /** Immutable, unique in the account: gates refer to it as `owned/<slug>`. */
  readonly slug: string
  readonly displayName: string
  readonly dialect: OwnedModelDialect
  /** In the form in which an SDK of the dialect takes it, without a slash at its end. Immutable: the credential belongs to it. */
  readonly baseUrl: string
  /** The model's name at its own server. */
  readonly upstreamModelId: string
  /** Milliseconds since the Unix epoch, as are the two below. */
  readonly credentialSetAt: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** @returns the slug that a target `owned/<slug>` names; undefined when it names a provider */
export function ownedSlugOf(target: string): string | undefined {
  return target.startsWith(`${OWNED_PREFIX}/`) ? target.slice(OWNED_PREFIX.length + 1) : undefined
}

/** What a sealed credential is bound to: moved to another row, it opens nothing. */
export function ownedModelBinding(accountId: string, slug: string): string {
  return `owned-model/${accountId}/${slug}`
}

/** An owned model as it may be read, field by field. */
export function toPublicOwnedModel(model: OwnedModel) {
  return {
    slug: model.slug,
    displayName: model.displayName,
    dialect: model.dialect,
    baseUrl: model.baseUrl,
    upstreamModelId: model.upstreamModelId,
    pricingInput: model.pricingInput,
    pricingOutput: model.pricingOutput,
    pricingCachedInput: model.pricingCachedInput,
    credentialSetAt: new Date(model.credentialSetAt).toISOString(),
    createdAt: new Date(model.createdAt).toISOString(),
    updatedAt: new Date(model.updatedAt).toISOString(),
  }
}

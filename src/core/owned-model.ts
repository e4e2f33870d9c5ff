/**
 * An owned model: one that a customer hosts or pays for, addressed by its slug. Its credential is
 * never a part of it.
 */
import type { OwnedModelDialect } from './dialects.ts'
import type { AccountId } from './ids.ts'

/** The part of a target before the slash that says: what follows is a slug of the account. */
export const OWNED_PREFIX = 'owned'

/**
 * How its server wants the credential. `auto`: as the dialect's own clients send it, unless a probe
 * has found out otherwise.
 */
export const CREDENTIAL_HEADERS = ['auto', 'authorization', 'x-api-key'] as const

export type CredentialHeader = (typeof CREDENTIAL_HEADERS)[number]

/**
 * How a server fills in the middle: at the address that the dialect's own vendor has, at
 * llama.cpp's, or by completions with a member for the suffix or with the model's own tokens in the
 * prompt.
 */
export const FIM_ENDPOINTS = [
  'fim-completions',
  'infill',
  'completions-suffix',
  'completions-template',
] as const

export type FimEndpoint = (typeof FIM_ENDPOINTS)[number]

/** Families of models whose tokens for that are known (providers/owned.ts). */
export const FIM_TEMPLATE_NAMES = [
  'codegemma',
  'codellama',
  'codestral',
  // provider-name-ok: a family of models
  'deepseek-coder',
  'granite-code',
  'qwen-coder',
  'starcoder2',
] as const

export type FimTemplateName = (typeof FIM_TEMPLATE_NAMES)[number]

/**
 * Traits of a model's server that a probe has learnt. Absent: it was not asked, or what it said
 * told nothing.
 */
export interface ServerTraits {
  /** In which header it takes the credential: `Authorization: Bearer`, or `x-api-key`. */
  readonly credentialHeader?: Exclude<CredentialHeader, 'auto'>
  /** A model for chat embeds too. */
  readonly embeddings?: boolean
  /** It counts tokens of Messages requests itself. */
  readonly countTokens?: boolean
  /** The endpoint at which it fills in the middle. */
  readonly fimEndpoint?: FimEndpoint
}

/**
 * `loading`: its server says that it will answer, and not yet. `unknown`: the probe was cut short.
 */
export const PROBE_STATUSES = [
  'checking',
  'loading',
  'reachable',
  'unreachable',
  'unknown',
] as const
export type ProbeStatus = (typeof PROBE_STATUSES)[number]

/** The result of the last small request to a model, or that one is under way. */
export interface OwnedModelProbe {
  readonly status: ProbeStatus
  /** When it began; milliseconds since the Unix epoch. */
  readonly checkedAt: number
  readonly latencyMs: number
  /** Absent when there was no answer. */
  readonly httpStatus?: number
  /** For people; holds nothing that the server sent. */
  readonly detail?: string
  /** Stays from one probe to the next where that one learns nothing new. */
  readonly found?: ServerTraits
}

/** Declared by the customer, in whole US cents per million tokens. */
export interface OwnedModelPrices {
  readonly pricingInput: number
  readonly pricingOutput: number
  readonly pricingCachedInput: number
}

/** In US cents per million tokens. */
export interface DeclaredPrices {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
}

export function toDeclaredPrices(model: OwnedModelPrices): DeclaredPrices {
  const { pricingInput, pricingOutput, pricingCachedInput } = model
  return { input: pricingInput, output: pricingOutput, cachedInput: pricingCachedInput }
}

export interface OwnedModel extends OwnedModelPrices {
  readonly accountId: AccountId
  /** Immutable, unique in the account: gates refer to it as `owned/<slug>`. */
  readonly slug: string
  readonly displayName: string
  readonly dialect: OwnedModelDialect
  /**
   * In the form in which an SDK of the dialect takes it, without a slash at its end. Immutable: the
   * credential belongs to it.
   */
  readonly baseUrl: string
  /** The model's name at its own server. */
  readonly upstreamModelId: string
  readonly credentialHeader: CredentialHeader
  /** Without one no call carries any: its server takes none. */
  readonly hasCredential: boolean
  /**
   * Of a model that fills in the middle. `auto`: what a probe has found; until then the vendor's
   * own address.
   */
  readonly fimEndpoint: 'auto' | FimEndpoint
  /** `auto`: by the model's name. */
  readonly fimTemplate: 'auto' | FimTemplateName
  /** Null: it was never asked anything. */
  readonly probe: OwnedModelProbe | null
  /**
   * When the credential was last set or removed; milliseconds since the Unix epoch, as are the two
   * below.
   */
  readonly credentialSetAt: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** @returns the slug that a target `owned/<slug>` names; undefined when it names a provider */
export function ownedSlugOf(target: string): string | undefined {
  return target.startsWith(`${OWNED_PREFIX}/`) ? target.slice(OWNED_PREFIX.length + 1) : undefined
}

/** The context of a sealed credential: moved to another row, it opens nothing. */
export function ownedModelBinding(accountId: string, slug: string): string {
  return `owned-model/${accountId}/${slug}`
}

/** True where a probe of the one says something of the other. */
export function isSameQuestion(one: OwnedModel, other: OwnedModel): boolean {
  return (
    one.upstreamModelId === other.upstreamModelId &&
    one.credentialHeader === other.credentialHeader &&
    one.fimEndpoint === other.fimEndpoint &&
    one.fimTemplate === other.fimTemplate &&
    one.credentialSetAt === other.credentialSetAt
  )
}

/**
 * Longer than any probe lasts (config/settings.ts): one that is still said to be under way ended
 * with its process, as did one from a time that the clock has not reached again.
 */
const LONGEST_PROBE_MS = 15 * 60_000

/** @returns the probe as it is to be shown at this moment, in milliseconds since the Unix epoch */
export function currentProbe({ probe }: OwnedModel, now: number): OwnedModelProbe | null {
  const isOver = probe?.status === 'checking' && Math.abs(now - probe.checkedAt) > LONGEST_PROBE_MS
  return isOver ? cutShort(probe) : probe
}

export function cutShort(probe: OwnedModelProbe): OwnedModelProbe {
  return { ...probe, status: 'unknown', detail: 'The check was cut short: ask again.' }
}

/** A probe that begins. @param learnt of the server before, which calls go on by */
export function beginProbe(checkedAt: number, learnt: ServerTraits | undefined): OwnedModelProbe {
  return {
    status: 'checking',
    checkedAt,
    latencyMs: 0,
    ...(learnt === undefined ? {} : { found: learnt }),
  }
}

/**
 * An owned model as it may be read, field by field; without what probes found, which nobody has
 * set.
 */
export function toPublicOwnedModel(model: OwnedModel) {
  return {
    slug: model.slug,
    displayName: model.displayName,
    dialect: model.dialect,
    baseUrl: model.baseUrl,
    upstreamModelId: model.upstreamModelId,
    credentialHeader: model.credentialHeader,
    fimEndpoint: model.fimEndpoint,
    fimTemplate: model.fimTemplate,
    pricingInput: model.pricingInput,
    pricingOutput: model.pricingOutput,
    pricingCachedInput: model.pricingCachedInput,
    credentialSetAt: model.hasCredential ? new Date(model.credentialSetAt).toISOString() : null,
    createdAt: new Date(model.createdAt).toISOString(),
    updatedAt: new Date(model.updatedAt).toISOString(),
  }
}

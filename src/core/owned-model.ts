/**
 * An owned model: hosted or paid for by a customer, addressed by its slug. Never contains its
 * credential.
 */
import type { OwnedModelDialect } from './dialects.ts'
import type { AccountId } from './ids.ts'

export const OWNED_PREFIX = 'owned'

/**
 * The header for the credential at the model's server. `auto`: the header that a probe found, or
 * else the header of the dialect's own clients.
 */
export const CREDENTIAL_HEADERS = ['auto', 'authorization', 'x-api-key'] as const

export type CredentialHeader = (typeof CREDENTIAL_HEADERS)[number]

/**
 * How a server fills in the middle: at the path of the dialect's own provider, at llama.cpp's, or
 * by completions with a suffix member or with the model's own tokens in the prompt.
 */
export const FIM_ENDPOINTS = [
  'fim-completions',
  'infill',
  'completions-suffix',
  'completions-template',
] as const

export type FimEndpoint = (typeof FIM_ENDPOINTS)[number]

/** Model families with known fill-in-the-middle tokens (providers/owned.ts). */
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

/** Traits of a server that a probe found. Absent: not asked, or the answer was inconclusive. */
export interface ServerTraits {
  readonly credentialHeader?: Exclude<CredentialHeader, 'auto'>
  readonly embeddings?: boolean
  readonly countTokens?: boolean
  readonly fimEndpoint?: FimEndpoint
}

/** `loading`: the server reports that it is not ready yet. `unknown`: the probe was cancelled. */
export const PROBE_STATUSES = [
  'checking',
  'loading',
  'reachable',
  'unreachable',
  'unknown',
] as const
export type ProbeStatus = (typeof PROBE_STATUSES)[number]

export interface OwnedModelProbe {
  readonly status: ProbeStatus
  /** Start of the probe, in milliseconds since the Unix epoch. */
  readonly checkedAt: number
  readonly latencyMs: number
  /** Absent when there was no answer. */
  readonly httpStatus?: number
  /** For people; contains nothing that the server sent. */
  readonly detail?: string
  /** Retained from the previous probe if the new probe learns nothing. */
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
  /** Immutable, unique in the account: gates refer to `owned/<slug>`. */
  readonly slug: string
  readonly displayName: string
  readonly dialect: OwnedModelDialect
  /**
   * In the form that the dialect's SDKs use, without a trailing slash. Immutable, because the
   * credential belongs to this address.
   */
  readonly baseUrl: string
  readonly upstreamModelId: string
  readonly credentialHeader: CredentialHeader
  /** False: the server needs no credential, and calls send none. */
  readonly hasCredential: boolean
  /**
   * For fill-in-the-middle models. `auto`: the endpoint that a probe found, or else the provider's
   * own path.
   */
  readonly fimEndpoint: 'auto' | FimEndpoint
  /** `auto`: by the model's name. */
  readonly fimTemplate: 'auto' | FimTemplateName
  /** Null: never probed. */
  readonly probe: OwnedModelProbe | null
  /** When the credential was last set or removed, in milliseconds since the Unix epoch. */
  readonly credentialSetAt: number
  readonly createdAt: number
  readonly updatedAt: number
}

export function ownedSlugOf(target: string): string | undefined {
  return target.startsWith(`${OWNED_PREFIX}/`) ? target.slice(OWNED_PREFIX.length + 1) : undefined
}

/** The context of an encrypted credential, so the text cannot be decrypted in another row. */
export function ownedModelBinding(accountId: string, slug: string): string {
  return `owned-model/${accountId}/${slug}`
}

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
 * Longer than any probe takes. An older probe in progress ended with its process; a probe from the
 * future was started before the clock was set back.
 */
const LONGEST_PROBE_MS = 15 * 60_000

export function currentProbe({ probe }: OwnedModel, now: number): OwnedModelProbe | null {
  const isOver = probe?.status === 'checking' && Math.abs(now - probe.checkedAt) > LONGEST_PROBE_MS
  return isOver ? cutShort(probe) : probe
}

export function cutShort(probe: OwnedModelProbe): OwnedModelProbe {
  return { ...probe, status: 'unknown', detail: 'The check was cancelled. Run it again.' }
}

/** @param learnt earlier traits of the server, which calls continue to use */
export function beginProbe(checkedAt: number, learnt: ServerTraits | undefined): OwnedModelProbe {
  return {
    status: 'checking',
    checkedAt,
    latencyMs: 0,
    ...(learnt === undefined ? {} : { found: learnt }),
  }
}

/** Omits probe results, because callers cannot set them. */
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

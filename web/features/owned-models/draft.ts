/**
 * The typed text of the forms of owned models: validated while typing, and converted to a request.
 * The gateway validates everything again.
 */
import type { QuestionOf, RowOf } from '../../api/ask.ts'

export type OwnedModel = RowOf<'GET /v1/owned-models'>
export type Registration = QuestionOf<'POST /v1/owned-models'>[0]['body']
export type Changes = QuestionOf<'PATCH /v1/owned-models/{slug}'>[0]['body']
export type Dialect = Registration['dialect']
export type CredentialHeader = OwnedModel['credentialHeader']
export type FimEndpoint = OwnedModel['fimEndpoint']
export type FimTemplate = OwnedModel['fimTemplate']

export const MAX_LENGTH = {
  displayName: 120,
  upstreamModelId: 200,
  credential: 500,
  baseUrl: 500,
} as const

/** Whole US cents per million tokens (interface-spec, Owned-model registration). */
const MAX_PRICE_CENTS = 10_000
const MAX_SLUG_LENGTH = 63

export interface Prices {
  readonly pricingInput: string
  readonly pricingOutput: string
  readonly pricingCachedInput: string
}

/** Names the invalid character, because "does not match a pattern" does not help. */
export function slugProblem(slug: string): string | undefined {
  const wrong = /[^a-z0-9-]/u.exec(slug)?.[0]
  if (wrong !== undefined) {
    return /[A-Z]/.test(wrong)
      ? 'Small letters only.'
      : `${wrong.trim() === '' ? 'A space' : `“${wrong}”`} cannot be in it: only small letters, digits and hyphens.`
  }
  if (slug.startsWith('-')) return 'The slug must begin with a letter or a digit.'
  return slug.length > MAX_SLUG_LENGTH ? `At most ${MAX_SLUG_LENGTH} characters.` : undefined
}

export function addressProblem(baseUrl: string): string | undefined {
  const typed = baseUrl.trim()
  if (typed === '' || 'https://'.startsWith(typed) || 'http://'.startsWith(typed)) return undefined
  if (!/^https?:\/\//i.test(typed))
    return 'The address must begin with https:// (or http://, for hosts that the operator trusts).'
  return /[?#]/.test(typed) ? 'The address must not contain a query or a fragment.' : undefined
}

export function priceProblem(typed: string): string | undefined {
  const price = typed.trim()
  if (price === '' || toCents(price) !== undefined) return undefined
  return /^\d+$/.test(price)
    ? `At most ${MAX_PRICE_CENTS} cents: $${MAX_PRICE_CENTS / 100} per million.`
    : 'Write whole cents in digits: $0.25 is 25.'
}

export function toCents(typed: string): number | undefined {
  const price = typed.trim()
  if (!/^\d{1,9}$/.test(price)) return undefined
  const cents = Number(price)
  return cents <= MAX_PRICE_CENTS ? cents : undefined
}

export interface FimSettings {
  readonly fimEndpoint: FimEndpoint
  readonly fimTemplate: FimTemplate
}

export interface Details extends Prices, FimSettings {
  readonly displayName: string
  readonly upstreamModelId: string
  readonly credentialHeader: CredentialHeader
}

export function toDetails(model: OwnedModel): Details {
  return {
    displayName: model.displayName,
    upstreamModelId: model.upstreamModelId,
    credentialHeader: model.credentialHeader,
    fimEndpoint: model.fimEndpoint,
    fimTemplate: model.fimTemplate,
    pricingInput: String(model.pricingInput),
    pricingOutput: String(model.pricingOutput),
    pricingCachedInput: String(model.pricingCachedInput),
  }
}

/**
 * Only changed fields, so that two people who change different fields do not undo each other's
 * changes. Requires valid input.
 */
export function toChanges(before: OwnedModel, typed: Details): Changes {
  const after = {
    displayName: typed.displayName.trim(),
    upstreamModelId: typed.upstreamModelId.trim(),
    credentialHeader: typed.credentialHeader,
    fimEndpoint: typed.fimEndpoint,
    fimTemplate: typed.fimTemplate,
    pricingInput: toCents(typed.pricingInput),
    pricingOutput: toCents(typed.pricingOutput),
    pricingCachedInput: toCents(typed.pricingCachedInput),
  }
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => value !== undefined && value !== before[name as keyof typeof after],
    ),
  )
}

export function isComplete(typed: Details): boolean {
  return (
    typed.displayName.trim() !== '' &&
    typed.upstreamModelId.trim() !== '' &&
    [typed.pricingInput, typed.pricingOutput, typed.pricingCachedInput].every(
      (price) => toCents(price) !== undefined,
    )
  )
}

/**
 * A new model, including what cannot be changed later. Format and credential are stored elsewhere.
 */
export interface NewDetails extends Details {
  readonly slug: string
  readonly baseUrl: string
}

export const NOTHING_TYPED: NewDetails = {
  slug: '',
  displayName: '',
  baseUrl: '',
  upstreamModelId: '',
  credentialHeader: 'auto',
  fimEndpoint: 'auto',
  fimTemplate: 'auto',
  pricingInput: '',
  pricingOutput: '',
  pricingCachedInput: '',
}

export function isRegistrable(typed: NewDetails): boolean {
  const { displayName, pricingInput, pricingOutput, pricingCachedInput, ...rest } = typed
  return (
    typed.slug !== '' &&
    slugProblem(typed.slug) === undefined &&
    typed.baseUrl.trim() !== '' &&
    addressProblem(typed.baseUrl) === undefined &&
    isComplete({
      ...rest,
      displayName: displayName.trim() || typed.slug,
      pricingInput: pricingInput.trim() || '0',
      pricingOutput: pricingOutput.trim() || '0',
      pricingCachedInput: pricingCachedInput.trim() || '0',
    })
  )
}

/** Omits empty optional fields, because the gateway has its own defaults. Requires valid input. */
export function toRegistration(typed: NewDetails): Omit<Registration, 'dialect' | 'credential'> {
  const displayName = typed.displayName.trim()
  const prices = {
    pricingInput: toCents(typed.pricingInput),
    pricingOutput: toCents(typed.pricingOutput),
  }
  const pricingCachedInput = toCents(typed.pricingCachedInput)
  return {
    slug: typed.slug,
    baseUrl: typed.baseUrl.trim(),
    upstreamModelId: typed.upstreamModelId.trim(),
    ...prices,
    ...(displayName === '' ? {} : { displayName }),
    ...(typed.credentialHeader === 'auto' ? {} : { credentialHeader: typed.credentialHeader }),
    ...(typed.fimEndpoint === 'auto' ? {} : { fimEndpoint: typed.fimEndpoint }),
    ...(typed.fimTemplate === 'auto' ? {} : { fimTemplate: typed.fimTemplate }),
    ...(pricingCachedInput === undefined ? {} : { pricingCachedInput }),
  }
}

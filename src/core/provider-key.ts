/**
 * A provider key (BYOK): an account's own credential for a provider, as everybody but the vault may
 * see it.
 */
import type { AccountId } from './ids.ts'

export interface ProviderKey {
  readonly accountId: AccountId
  readonly providerId: string
  /** `sk-…9f3c`, or `…` alone. */
  readonly maskedKey: string
  /** True while calls use it; while they do not, they are the platform's. */
  readonly isActive: boolean
  /** Milliseconds since the Unix epoch, as the two below. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Null: never, in its present form. */
  readonly lastUsedAt: number | null
}

/**
 * `unknown`: the provider could not be reached, or did not answer the question. `not_probed`: it was
 * asked nothing, or has no list to ask for.
 */
export const KEY_PROBE_STATUSES = ['accepted', 'refused', 'unknown', 'not_probed'] as const

/** The result of one request that tests a key. */
export interface ProviderKeyProbe {
  readonly status: (typeof KEY_PROBE_STATUSES)[number]
  /** Absent when there was no answer. */
  readonly httpStatus?: number
  /** For people, in the gateway's words. */
  readonly detail: string
}

/** The context of a sealed key: moved to another row, it opens nothing. */
export function providerKeyBinding(accountId: string, providerId: string): string {
  return `provider-key/${accountId}/${providerId}`
}

/** The shown part of a key must be a small one. */
const SHORTEST_SHOWN = 24

/** The first three and last four characters; of a short one, and of a document, nothing. */
export function maskProviderKey(key: string): string {
  if (key.length < SHORTEST_SHOWN || key.startsWith('{')) return '…'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

const HEADER_TEXT = /^[\x21-\x7e]+$/
const BEYOND_ASCII = /[^\x20-\x7e]/g

/**
 * The form in which a key is kept: itself when it can stand in a header, or a JSON document (a
 * service account) on one line.
 * @returns undefined for anything else
 */
export function normaliseProviderKey(given: string): string | undefined {
  if (HEADER_TEXT.test(given) && !given.startsWith('{')) return given
  return compactJsonObject(given)
}

/** Files as vendors hand them out are indented; line breaks have no place in a credential. */
function compactJsonObject(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    return JSON.stringify(parsed).replaceAll(
      BEYOND_ASCII,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  } catch {
    return undefined
  }
}

/** A provider key as it may be read, field by field. */
export function toPublicProviderKey(key: ProviderKey) {
  return {
    provider: key.providerId,
    maskedKey: key.maskedKey,
    active: key.isActive,
    createdAt: new Date(key.createdAt).toISOString(),
    updatedAt: new Date(key.updatedAt).toISOString(),
    lastUsedAt: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
  }
}

/**
 * A provider key (BYOK): an account's own credential for a provider, in the form visible outside
 * the vault.
 */
import type { AccountId } from './ids.ts'

export interface ProviderKey {
  readonly accountId: AccountId
  readonly providerId: string
  /** `sk-…9f3c`, or `…` alone. */
  readonly maskedKey: string
  /** True while calls use it; otherwise they use the platform's. */
  readonly isActive: boolean
  /** Milliseconds since the Unix epoch, as the two below. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Null: never used in its present form. */
  readonly lastUsedAt: number | null
}

/**
 * `unknown`: the provider could not be reached or gave no answer. `not_probed`: it was not asked,
 * or offers no suitable request.
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

/** The context of an encrypted key: it cannot be decrypted in another row. */
export function providerKeyBinding(accountId: string, providerId: string): string {
  return `provider-key/${accountId}/${providerId}`
}

/** Only a small part of a key may be shown. */
const SHORTEST_SHOWN = 24

/** The first three and last four characters; nothing of a short key or of a document. */
export function maskProviderKey(key: string): string {
  if (key.length < SHORTEST_SHOWN || key.startsWith('{')) return '…'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

const HEADER_TEXT = /^[\x21-\x7e]+$/
const BEYOND_ASCII = /[^\x20-\x7e]/g

/**
 * The stored form of a key: unchanged if it fits in a header, or a JSON document (a service
 * account) on one line.
 * @returns undefined for anything else
 */
export function normaliseProviderKey(given: string): string | undefined {
  if (HEADER_TEXT.test(given) && !given.startsWith('{')) return given
  return compactJsonObject(given)
}

/** Providers deliver indented files; a credential cannot contain line breaks. */
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

/** The public form of a provider key, listed field by field. */
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

/**
 * A provider key (BYOK): an account's own credential for a provider, as visible outside the vault.
 */
import type { AccountId } from './ids.ts'

export interface ProviderKey {
  readonly accountId: AccountId
  readonly providerId: string
  /** `sk-…9f3c`, or `…` alone. */
  readonly maskedKey: string
  /** True while calls use the key; otherwise calls use the platform's credential. */
  readonly isActive: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** Null: never used in its present form. */
  readonly lastUsedAt: number | null
}

/**
 * `unknown`: the provider gave no answer. `not_probed`: the provider offers no suitable request, or
 * was not asked.
 */
export const KEY_PROBE_STATUSES = ['accepted', 'refused', 'unknown', 'not_probed'] as const

export interface ProviderKeyProbe {
  readonly status: (typeof KEY_PROBE_STATUSES)[number]
  /** Absent when there was no answer. */
  readonly httpStatus?: number
  readonly detail: string
}

/** The context of an encrypted key, so the text cannot be decrypted in another row. */
export function providerKeyBinding(accountId: string, providerId: string): string {
  return `provider-key/${accountId}/${providerId}`
}

const SHORTEST_SHOWN = 24

/** Shows the first three and last four characters, but nothing of a short key or of a document. */
export function maskProviderKey(key: string): string {
  if (key.length < SHORTEST_SHOWN || key.startsWith('{')) return '…'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

const HEADER_TEXT = /^[\x21-\x7e]+$/
const BEYOND_ASCII = /[^\x20-\x7e]/g

/**
 * Returns a header value unchanged, and a JSON document (a service account) on one line.
 * @returns undefined for anything else
 */
export function normaliseProviderKey(given: string): string | undefined {
  if (HEADER_TEXT.test(given) && !given.startsWith('{')) return given
  return compactJsonObject(given)
}

/** Providers deliver indented files, but a credential cannot contain line breaks. */
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

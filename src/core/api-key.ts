/** API keys. The store holds a hash and a masked prefix, never the key itself. */
import { randomBytes } from 'node:crypto'
import { isAccessToken, type TOKEN_PREFIX, type TokenRules } from './access-token.ts'
import type { AccountId, KeyId } from './ids.ts'
import { Secret } from './secret.ts'

export interface ApiKey {
  readonly accountId: AccountId
  readonly id: KeyId
  readonly name: string
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly sha256: string
  /** The part that may be shown after creation, such as `sk-svc-ab12…`. */
  readonly maskedPrefix: string
  readonly createdAt: number
  /** Milliseconds since the Unix epoch; null: never used. Written in batches. */
  readonly lastUsedAt: number | null
  /** The id of a user or a key, or `operator`; null: unknown. */
  readonly createdBy: string | null
  /** Milliseconds since the Unix epoch; null: no expiry. */
  readonly expiresAt: number | null
  /** The key's text before the last rotation, while still valid. */
  readonly previous: PreviousKey | null
  /** Set for an access token. Undefined: an API key, with full access. */
  readonly token?: TokenRules | undefined
  /** The member whom calls with an API key count for. */
  readonly user?: string | null | undefined
  /** Tags of every call, as `name` or `name:value`. Undefined: none. */
  readonly tags?: readonly string[] | undefined
}

export interface PreviousKey {
  readonly sha256: string
  readonly maskedPrefix: string
  readonly endsAt: number
}

const NEW_KEY = /^sk-svc-[0-9a-f]{64}$/i
/** Keys from before the prefix changed are still valid. */
const LEGACY_KEY = /^(?:svc_|legacy_)[\x21-\x7e]{8,500}$/

export function isNewKey(key: string): boolean {
  return NEW_KEY.test(key)
}

export function isLegacyKey(key: string): boolean {
  return LEGACY_KEY.test(key)
}

/** Minimum randomness of an imported key; earlier imports are not checked. */
const MIN_IMPORTED_CHARACTERS = 16
const MIN_DIFFERENT_CHARACTERS = 6

/** @returns the reason to refuse the import, without any part of the key; undefined: accepted */
export function describeGuessableKey(key: string): string | undefined {
  const random = key.slice(prefixOf(key).length)
  if (random.length >= MIN_IMPORTED_CHARACTERS && new Set(random).size >= MIN_DIFFERENT_CHARACTERS)
    return undefined
  return (
    `is too easy to guess: it needs at least ${MIN_IMPORTED_CHARACTERS} characters after its ` +
    `prefix, ${MIN_DIFFERENT_CHARACTERS} of them different`
  )
}

export function generateApiKey(prefix: typeof TOKEN_PREFIX | 'sk-svc-' = 'sk-svc-'): Secret {
  return new Secret(`${prefix}${randomBytes(32).toString('hex')}`)
}

export function hashApiKey(key: string): string {
  return Bun.SHA256.hash(key, 'hex')
}

/** The prefix and four more characters: enough to tell keys apart, but useless to an attacker. */
export function maskApiKey(key: string): string {
  return `${key.slice(0, prefixOf(key).length + 4)}…`
}

function prefixOf(key: string): string {
  return /^(?:sk-svc-|at-svc-|svc_|legacy_)/i.exec(key)?.[0] ?? ''
}

/** A deleted new key may have been recorded in either case, so both hashes are checked. */
export function hashesOfSpellings(key: string): readonly string[] {
  if (!isNewKey(key) && !isAccessToken(key)) return [hashApiKey(key)]
  return [...new Set([key, key.toLowerCase()].map(hashApiKey))]
}

/** Lists the fields one by one, so the hash is never included. */
export function toPublicKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    maskedPrefix: key.maskedPrefix,
    createdAt: new Date(key.createdAt).toISOString(),
    lastUsedAt: toTime(key.lastUsedAt),
    createdBy: key.createdBy,
    expiresAt: toTime(key.expiresAt),
    previous:
      key.previous === null
        ? null
        : {
            maskedPrefix: key.previous.maskedPrefix,
            endsAt: new Date(key.previous.endsAt).toISOString(),
          },
    tags: [...(key.tags ?? [])],
    ...(key.token ?? { user: key.user ?? null }),
  }
}

function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** A use further in the future was recorded by a wrong clock, so that use is replaced. */
export const MOST_AHEAD_MS = 24 * 3_600_000

export function isLastUse(at: number, known: number | null): boolean {
  return known === null || known < at || known - at > MOST_AHEAD_MS
}

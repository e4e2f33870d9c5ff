/** The form of a key, and its stored form: a hash and a masked prefix, never the key itself. */
import { randomBytes } from 'node:crypto'
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
  /** Milliseconds since the Unix epoch, or null while never used. Written in batches. */
  readonly lastUsedAt: number | null
  /** The id of a user or a key, or `operator`; null: not known. */
  readonly createdBy: string | null
  /** Milliseconds since the Unix epoch: from then on it is refused; null: it does not expire. */
  readonly expiresAt: number | null
  /** The text that it had before it was rotated, as long as that may still be used; null: none. */
  readonly previous: PreviousKey | null
}

export interface PreviousKey {
  readonly sha256: string
  readonly maskedPrefix: string
  /** Milliseconds since the Unix epoch: from then on it is refused. */
  readonly endsAt: number
}

/** New keys: `sk-svc-` and 64 hexadecimal characters. */
const NEW_KEY = /^sk-svc-[0-9a-f]{64}$/i
/** Keys made before the prefix changed; they still validate (interface-spec, API key). */
const LEGACY_KEY = /^(?:svc_|legacy_)[\x21-\x7e]{8,500}$/

export function isNewKey(key: string): boolean {
  return NEW_KEY.test(key)
}

export function isLegacyKey(key: string): boolean {
  return LEGACY_KEY.test(key)
}

/**
 * A new import is as hard to guess as this at the least; keys that were imported before are not
 * looked at again.
 */
const MIN_IMPORTED_CHARACTERS = 16
const MIN_DIFFERENT_CHARACTERS = 6

/**
 * @returns what an import of the key has to be refused for, or undefined; it names no part of the
 * key
 */
export function describeGuessableKey(key: string): string | undefined {
  const random = key.slice(prefixOf(key).length)
  if (random.length >= MIN_IMPORTED_CHARACTERS && new Set(random).size >= MIN_DIFFERENT_CHARACTERS)
    return undefined
  return (
    `is too easy to guess: it needs at least ${MIN_IMPORTED_CHARACTERS} characters after its ` +
    `prefix, ${MIN_DIFFERENT_CHARACTERS} of them different`
  )
}

export function generateApiKey(): Secret {
  return new Secret(`sk-svc-${randomBytes(32).toString('hex')}`)
}

export function hashApiKey(key: string): string {
  return Bun.SHA256.hash(key, 'hex')
}

/** The prefix and four more characters: enough to tell keys apart, useless to an attacker. */
export function maskApiKey(key: string): string {
  return `${key.slice(0, prefixOf(key).length + 4)}…`
}

/** Spelt as it is written: letters of either case make a new key's prefix. */
function prefixOf(key: string): string {
  return /^(?:sk-svc-|svc_|legacy_)/i.exec(key)?.[0] ?? ''
}

/** The hashes under which a key may be known as deleted: new keys are the same in either case. */
export function hashesOfSpellings(key: string): readonly string[] {
  if (!isNewKey(key)) return [hashApiKey(key)]
  return [...new Set([key, key.toLowerCase()].map(hashApiKey))]
}

/** A key as it may be read, field by field: the hash must not come along. */
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
  }
}

function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** No node reports a use so late: one that is further ahead was dated by a clock that was wrong. */
export const MOST_AHEAD_MS = 24 * 3_600_000

/** Whether a use is to be kept in place of what is known; milliseconds since the Unix epoch. */
export function isLastUse(at: number, known: number | null): boolean {
  return known === null || known < at || known - at > MOST_AHEAD_MS
}

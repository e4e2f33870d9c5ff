/** Encrypts credentials for the store under the master key (AES-256-GCM). */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { Secret } from './secret.ts'

/** Given as 64 hexadecimal characters or as base64. */
const KEY_BYTES = 32
/** The length that NIST SP 800-38D recommends for GCM. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_LENGTH = 8

export class VaultError extends Error {
  override readonly name = 'VaultError'
}

export interface Vault {
  /**
   * @param binding identifies the row (`provider-key/<account>/<provider>`), so a text moved to
   * another row cannot be decrypted
   * @returns `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url
   */
  encrypt(secret: Secret, binding: string): string
  /**
   * @throws VaultError when the text is damaged, was made for another row, or its master key is
   * missing
   */
  decrypt(sealed: string, binding: string): Secret
  /** False for a text under a previous master key. */
  isCurrent(sealed: string): boolean
}

/**
 * @param masterKeys the current one first, then keys that only decrypt.
 * @throws VaultError
 */
export function createVault(masterKeys: readonly [Secret, ...Secret[]]): Vault {
  const keys = masterKeys.map((key) => toKey(key))
  const [current] = keys
  if (current === undefined) throw new VaultError('There is no master key.')
  return {
    encrypt(secret, binding) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce).setAAD(
        Buffer.from(binding),
      )
      const closed = Buffer.concat([
        cipher.update(secret.reveal(), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return ['v1', current.id, nonce.toString('base64url'), closed.toString('base64url')].join('.')
    },
    decrypt(sealed, binding) {
      const { keyId, nonce, closed } = parse(sealed)
      const key = keys.find((candidate) => candidate.id === keyId)
      if (key === undefined) throw new VaultError(`The master key ${keyId} is missing.`)
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(binding)).setAuthTag(closed.subarray(-TAG_BYTES))
      try {
        const opened = Buffer.concat([
          decipher.update(closed.subarray(0, -TAG_BYTES)),
          decipher.final(),
        ])
        return new Secret(opened.toString('utf8'))
      } catch {
        throw new VaultError('An encrypted credential is damaged, or belongs to another row.')
      }
    },
    isCurrent: (sealed) => parse(sealed).keyId === current.id,
  }
}

/**
 * The id in each encrypted text, which reveals nothing of the key.
 * @throws VaultError
 */
export function masterKeyIdOf(key: Secret): string {
  return toKey(key).id
}

export function sealedUnder(sealed: string): string | undefined {
  try {
    return parse(sealed).keyId
  } catch {
    return undefined
  }
}

interface MasterKey {
  readonly id: string
  readonly bytes: Buffer
}

function toKey(key: Secret): MasterKey {
  const text = key.reveal().trim()
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES)
    throw new VaultError(
      'A master key must be 32 bytes, as 64 hexadecimal characters or as base64.',
    )
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, KEY_ID_LENGTH), bytes }
}

function parse(sealed: string) {
  const [version, keyId = '', nonce = '', closed = ''] = sealed.split('.')
  const bytes = { nonce: Buffer.from(nonce, 'base64url'), closed: Buffer.from(closed, 'base64url') }
  if (version !== 'v1' || bytes.nonce.length !== NONCE_BYTES || bytes.closed.length < TAG_BYTES)
    throw new VaultError('An encrypted credential is damaged.')
  return { keyId, ...bytes }
}

/**
 * The sandbox's `encrypted_content`: an authenticated ciphertext bound to the API key it was made
 * for, so that a replay that was altered or comes with another credential is refused as the vendor
 * refuses it. Knows nothing of requests.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import { isObject } from './json.ts'

export interface SealedReasoning {
  /** Id of the reasoning item. */
  readonly id: string
  readonly text: string
  /** The shorter ciphertext of `output_item.added`, which cannot be replayed. */
  readonly isPartial: boolean
}

/** Visible as `c2FuZGJveC` at the start of each ciphertext: no real one looks like it. */
const MAGIC = Buffer.from('sandbox1')
const NONCE_BYTES = 12
const TAG_BYTES = 16

function keyFor(apiKey: string): Buffer {
  return createHash('sha256').update(`gatehouse sandbox reasoning\0${apiKey}`).digest()
}

/** Deterministic: the nonce comes from the content, so that equal requests get equal answers. */
export function sealReasoning(reasoning: SealedReasoning, apiKey: string): string {
  const key = keyFor(apiKey)
  const plain = Buffer.from(JSON.stringify(reasoning))
  const nonce = createHmac('sha256', key).update(plain).digest().subarray(0, NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(MAGIC)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([MAGIC, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Null when it was altered, belongs to another key, or was never the sandbox's. */
export function openReasoning(encrypted: string, apiKey: string): SealedReasoning | null {
  const bytes = Buffer.from(encrypted, 'base64url')
  // A lenient decoder forgives stray characters; an altered text must not pass because of that.
  if (bytes.toString('base64url') !== encrypted) return null
  const body = MAGIC.length + NONCE_BYTES
  if (bytes.length < body + TAG_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      keyFor(apiKey),
      bytes.subarray(MAGIC.length, body),
    )
    decipher.setAAD(MAGIC)
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const plain = Buffer.concat([
      decipher.update(bytes.subarray(body, -TAG_BYTES)),
      decipher.final(),
    ])
    const value: unknown = JSON.parse(plain.toString())
    if (!isObject(value) || typeof value.id !== 'string' || typeof value.text !== 'string')
      return null
    return { id: value.id, text: value.text, isPartial: value.isPartial === true }
  } catch {
    return null
  }
}

/**
 * The key that signs session cookies, made from the master key. Another master key ends every
 * session; nothing else depends on it.
 */
import { hkdfSync } from 'node:crypto'
import { Secret } from '../core/secret.ts'

/**
 * RFC 5869: the context keeps this key apart from every other one that is made of the master key.
 */
const CONTEXT = 'gatehouse/sign-in/1'
const LENGTH_BYTES = 32

export function deriveSignInSecret(masterKey: Secret): Secret {
  const text = masterKey.reveal().trim()
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(text, 'base64')
  return new Secret(
    Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), CONTEXT, LENGTH_BYTES)).toString(
      'base64url',
    ),
  )
}

/** Joins users to the store and the operator's settings. Loads nothing that is not needed yet. */

import { hkdfSync } from 'node:crypto'
import { Secret } from '../core/secret.ts'
import type { Store } from '../store/open-store.ts'
import { Identity } from './identity.ts'
import type { IdentityOptions } from './sign-in-libraries.ts'

export interface CreateIdentityOptions {
  readonly store: Pick<Store, 'database' | 'users' | 'members' | 'signInTries'>
  readonly settings: Pick<IdentityOptions, 'signUp' | 'publicOrigin' | 'oidc'>
  /** The current one; asked for when somebody signs in for the first time. */
  readonly masterKey: () => Secret
  readonly report: (message: string, cause: unknown) => void
}

export function createIdentity({
  store,
  settings,
  masterKey,
  report,
}: CreateIdentityOptions): Identity {
  const { database, users, members, signInTries } = store
  const { signUp, publicOrigin, oidc } = settings
  let derived: Secret | undefined
  /**
   * One for as long as the process lives: after a rotation, two libraries with one each would
   * refuse each other's cookies.
   */
  function secret(): Secret {
    derived ??= deriveSignInSecret(masterKey())
    return derived
  }
  return new Identity({
    database,
    users,
    members,
    signInTries,
    signUp,
    publicOrigin,
    oidc,
    secret,
    report,
  })
}

/**
 * RFC 5869: the context keeps this key apart from every other one that comes from the master key.
 */
const CONTEXT = 'gatehouse/sign-in/1'
const LENGTH_BYTES = 32

function deriveSignInSecret(masterKey: Secret): Secret {
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

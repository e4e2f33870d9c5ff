/** Joins users to the store and the operator's settings. Loads nothing that is not needed yet. */
import type { Secret } from '../core/secret.ts'
import type { Store } from '../store/open-store.ts'
import { Identity } from './identity.ts'
import type { IdentityOptions } from './sign-in-libraries.ts'
import { deriveSignInSecret } from './sign-in-secret.ts'

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

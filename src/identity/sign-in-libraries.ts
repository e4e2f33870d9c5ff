/**
 * Loads the sign-in library in its two forms, each when first needed, and turns its refusals into
 * the gateway's errors, which do not say whether the address or the password was wrong.
 */
import type { Kysely } from 'kysely'
import { systemClock } from '../core/clock.ts'
import { GatewayError, invalidRequest } from '../core/errors.ts'
import type { AccountId, UserId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import type { SignUpPolicy } from '../core/user.ts'
import type { Schema } from '../store/schema.ts'
import type { Joining, JoiningRefusal } from '../store/users/join-account.ts'
import type { MemberTableStore } from '../store/users/members.ts'
import type { SignInTriesStore } from '../store/users/sign-in-tries.ts'
import type { UserTableStore } from '../store/users/users.ts'
import type { PasswordHashes } from './passwords.ts'
import type { OidcProvider, SignInLibrary } from './sign-in-library.ts'

export interface IdentityOptions {
  readonly database: Kysely<Schema>
  readonly users: UserTableStore
  readonly members: MemberTableStore
  readonly signInTries: SignInTriesStore
  readonly signUp: SignUpPolicy
  readonly publicOrigin: string | undefined
  readonly oidc: OidcProvider | undefined
  readonly secret: () => Secret
  readonly report: (message: string, cause: unknown) => void
  /** Called with the account of each open session, which may be new. */
  readonly onMember?: ((accountId: AccountId) => void) | undefined
}

export class SignInLibraries {
  readonly #options: IdentityOptions
  readonly #hashes: PasswordHashes
  #library: Promise<SignInLibrary> | undefined
  #oidcLibrary: Promise<SignInLibrary> | undefined

  constructor(options: IdentityOptions, hashes: PasswordHashes) {
    this.#options = options
    this.#hashes = hashes
  }

  load(): Promise<SignInLibrary> {
    this.#library ??= this.#create(undefined).catch((error: unknown) => {
      this.#library = undefined
      throw error
    })
    return this.#library
  }

  /**
   * A separate instance, so that passwords and sessions still work while the identity provider is
   * unreachable.
   */
  async loadOidc(): Promise<SignInLibrary> {
    const { oidc, report } = this.#options
    if (oidc === undefined)
      throw new GatewayError('not_found', 'OpenID Connect is not set up here.')
    this.#oidcLibrary ??= this.#create(oidc)
    try {
      const library = await this.#oidcLibrary
      await library.$context
      return library
    } catch (error) {
      this.#oidcLibrary = undefined
      report('the identity provider could not be asked for its addresses', error)
      throw oidcUnavailable(error)
    }
  }

  async #create(oidc: OidcProvider | undefined): Promise<SignInLibrary> {
    const { createSignInLibrary } = await import('./sign-in-library.ts')
    const { database, publicOrigin, report, secret, users, members } = this.#options
    return createSignInLibrary({
      database,
      secret: secret(),
      publicOrigin,
      oidc,
      report,
      passwords: this.#hashes,
      beforeUser: async (user, invitation) => {
        const joining = this.#planJoining(user.email.toLowerCase(), invitation)
        if (!user.emailVerified || joining === undefined) throw await notInvited()
        const refusal = await users.refusalToJoin(
          user.email.toLowerCase(),
          joining,
          systemClock.now(),
        )
        if (refusal !== undefined) throw await notInvited()
      },
      beforeSession: async (userId, invitation) => {
        if ((await members.findByUser(userId as UserId)) !== undefined) return
        const email = await users.findVerifiedEmail(userId as UserId)
        const joining = email === undefined ? undefined : this.#planJoining(email, invitation)
        if (email === undefined || joining === undefined) throw await notInvited()
        const user = { id: userId as UserId, email }
        const refusal = await users.join(user, joining, systemClock.now()).catch(async (error) => {
          throw error instanceof GatewayError ? await accountFull(error) : error
        })
        if (refusal !== undefined) throw await notInvited()
      },
    })
  }

  /**
   * For a user with a verified address. An invitation to the address is not the user's consent, so
   * joining requires the invitation's token.
   */
  #planJoining(email: string, invitation: string | undefined): Joining | undefined {
    const { signUp } = this.#options
    if (signUp === 'closed') return undefined
    if (invitation !== undefined) return { type: 'invitation', tokenSha256: invitation }
    return signUp === 'open' ? { type: 'own', accountName: toAccountName(email) } : undefined
  }
}

export function oidcUnavailable(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The identity provider cannot be reached at the moment.', {
    cause,
  })
}

/** The name of an account until its owner renames the account. */
export function toAccountName(email: string): string {
  return email.slice(0, 120)
}

export function loginProblem(error: unknown, field: 'password' | 'currentPassword'): unknown {
  if (error instanceof GatewayError) return error
  const code = codeOf(error)
  if (code === 'INVALID_EMAIL_OR_PASSWORD' || code === 'INVALID_EMAIL')
    return new GatewayError('unauthorized', 'The email address or the password is wrong.')
  if (code === 'INVALID_PASSWORD') return invalidRequest(`${field}: is wrong`, field)
  if (code === 'CREDENTIAL_ACCOUNT_NOT_FOUND')
    return new GatewayError(
      'conflict',
      'This user signs in with an identity provider and has no password.',
    )
  if (code === NOT_INVITED || code === 'UNAUTHORIZED')
    return new GatewayError('unauthorized', 'The email address or the password is wrong.')
  return error
}

export function refusalOfJoining(refusal: JoiningRefusal): GatewayError {
  switch (refusal) {
    case 'email-taken':
      return new GatewayError('conflict', 'A user with this email address already exists.')
    case 'not-first':
      return new GatewayError(
        'forbidden',
        'The account of this key already has an owner: ask for an invitation.',
      )
    case 'not-invited':
      return new GatewayError(
        'forbidden',
        'Signing up needs an open invitation to this email address.',
      )
  }
}

const NOT_INVITED = 'not_invited'

async function notInvited(): Promise<Error> {
  const { APIError } = await import('better-auth/api')
  return new APIError('FORBIDDEN', { code: NOT_INVITED, message: 'The invitation is not open.' })
}

async function accountFull({ message }: GatewayError): Promise<Error> {
  const { APIError } = await import('better-auth/api')
  return new APIError('CONFLICT', { code: 'account_full', message })
}

export function readCookies(headers: Headers): readonly string[] {
  return headers.getSetCookie()
}

function codeOf(error: unknown): string | undefined {
  const body = error instanceof Error && 'body' in error ? error.body : undefined
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return typeof code === 'string' ? code : undefined
}

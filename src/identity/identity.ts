/**
 * Users for the control plane: sign-up, sign-in, sessions. Loads better-auth when first needed, and
 * applies the gateway's own rules for joining accounts and for attempts.
 */
import { hash, hkdfSync } from 'node:crypto'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { type AccountId, createUserId, type SessionId, type UserId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import type { SignUpPolicy } from '../core/user.ts'
import type { Store } from '../store/open-store.ts'
import type { Joining } from '../store/users/join-account.ts'
import type { Member } from '../store/users/members.ts'
import { PasswordHashes, PasswordWork } from './passwords.ts'
import { SignInAttempts } from './sign-in-attempts.ts'
import {
  AUTH_PATH,
  CLIENT_ADDRESS_HEADER,
  INVITATION_MEMBER,
  OIDC_PROVIDER,
  SESSION_COOKIE,
  SESSION_SECONDS,
} from './sign-in-constants.ts'
import {
  type IdentityOptions,
  loginProblem,
  oidcUnavailable,
  readCookies,
  refusalOfJoining,
  SignInLibraries,
  toAccountName,
} from './sign-in-libraries.ts'

export interface Visitor {
  readonly headers: Headers
  readonly address: string | undefined
}

export interface OpenSession {
  readonly id: SessionId
  readonly member: Member
  readonly expiresAt: number
}

export interface SignedIn {
  readonly session: OpenSession
  readonly cookies: readonly string[]
}

export interface SignUp {
  readonly email: string
  readonly name: string
  readonly password: string
  readonly invitation: Secret | undefined
  readonly keyAccountId: AccountId | undefined
}

const MOST_USER_AGENT_CHARACTERS = 200
const SWEEP_INTERVAL_MS = 3_600_000

/** The latest plausible end of a session: clocks of two nodes differ by less than a day. */
const LATEST_END_MS = (SESSION_SECONDS + 24 * 3600) * 1000

export class Identity {
  readonly #options: IdentityOptions
  readonly #hashes = new PasswordHashes(new PasswordWork())
  readonly #attempts: SignInAttempts
  readonly #libraries: SignInLibraries
  #sweptAt = 0

  constructor(options: IdentityOptions) {
    this.#options = options
    this.#attempts = new SignInAttempts({ tries: options.signInTries })
    this.#libraries = new SignInLibraries(options, this.#hashes)
  }

  get signUpPolicy(): SignUpPolicy {
    return this.#options.signUp
  }

  get hasOidc(): boolean {
    return this.#options.oidc !== undefined
  }

  get publicOrigin(): string | undefined {
    return this.#options.publicOrigin
  }

  hasSessionCookie(headers: Headers): boolean {
    return headers.get('cookie')?.includes(`${SESSION_COOKIE}=`) === true
  }

  /**
   * @returns undefined for an invalid cookie: forged, expired, revoked, of a user without an
   * account, or created while the clock was days ahead (docs/decisions/0034)
   */
  async findSession(headers: Headers): Promise<OpenSession | undefined> {
    const library = await this.#libraries.load()
    const found = await library.api.getSession({
      headers: new Headers({ cookie: headers.get('cookie') ?? '' }),
    })
    if (found === null) return undefined
    const expiresAt = found.session.expiresAt.getTime()
    if (expiresAt > systemClock.now() + LATEST_END_MS) return undefined
    const member = await this.#options.members.findByUser(found.user.id as UserId)
    if (member === undefined) return undefined
    this.#options.onMember?.(member.accountId)
    return {
      id: found.session.id as SessionId,
      member,
      expiresAt,
    }
  }

  /**
   * Called before the body of a sign-in or sign-up is read.
   * @throws GatewayError `rate_limited`
   */
  beginRequest(address: string | undefined): void {
    this.#attempts.beginRequest(address)
  }

  async signUp(given: SignUp, visitor: Visitor): Promise<SignedIn> {
    const email = given.email.toLowerCase()
    const joining = this.#planJoining(given, email)
    this.#attempts.beginSignUp(visitor.address)
    const { users } = this.#options
    const early = await users.refusalToJoin(email, joining, systemClock.now())
    if (early !== undefined) throw refusalOfJoining(early)
    const passwordHash = await this.#hashes.hash(given.password)
    const newUser = { id: createUserId(), name: given.name, email, passwordHash }
    const refusal = await users.create(newUser, joining, systemClock.now())
    if (refusal !== undefined) throw refusalOfJoining(refusal)
    await this.#attempts.prove(email, visitor.address)
    const { password } = given
    return await this.#hashes.whileFresh(passwordHash, password, () =>
      this.#openSession({ email, password }, visitor),
    )
  }

  /** @throws GatewayError `unauthorized` for any wrong member, `rate_limited` */
  async signIn(
    given: { readonly email: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn> {
    const email = given.email.toLowerCase()
    await this.#sweep()
    const attempt = await this.#attempts.begin(email, visitor.address)
    const signedIn = await this.#openSession({ email, password: given.password }, visitor)
    await attempt.succeed()
    return signedIn
  }

  async signOut(visitor: Visitor): Promise<readonly string[]> {
    const library = await this.#libraries.load()
    const { headers } = await library.api.signOut({
      headers: toLibraryHeaders(visitor),
      returnHeaders: true,
    })
    return readCookies(headers)
  }

  /**
   * Ends every other session; this session continues with a new cookie.
   * @throws GatewayError `invalid_request`, `rate_limited`
   */
  async changePassword(
    given: { readonly currentPassword: string; readonly newPassword: string },
    session: OpenSession,
    visitor: Visitor,
  ): Promise<readonly string[]> {
    const attempt = await this.#attempts.begin(session.member.email, visitor.address)
    const library = await this.#libraries.load()
    const { headers } = await library.api
      .changePassword({
        body: { ...given, revokeOtherSessions: true },
        headers: toLibraryHeaders(visitor),
        returnHeaders: true,
      })
      .catch((error: unknown) => {
        throw loginProblem(error, 'currentPassword')
      })
    await attempt.succeed()
    await this.#options.users.recordPasswordChange(session.member.userId)
    return readCookies(headers)
  }

  /**
   * The hash that identifies an invitation.
   * @throws GatewayError `rate_limited`
   */
  hashInvitation(token: Secret, visitor: Visitor): string {
    this.#attempts.beginSignUp(visitor.address)
    return toTokenHash(token)
  }

  /**
   * @param returnTo a path of the gateway
   * @param invitation its token, if the person accepts one
   * @returns where to redirect the browser
   * @throws GatewayError `not_found`, `unavailable`, `rate_limited`
   */
  async beginOidc(
    {
      returnTo,
      invitation,
    }: { readonly returnTo: string; readonly invitation: Secret | undefined },
    visitor: Visitor,
  ): Promise<{ readonly url: string; readonly cookies: readonly string[] }> {
    // Counted first, because after an earlier failure loading the library contacts the identity
    // provider.
    if (this.hasOidc) this.#attempts.beginSignUp(visitor.address)
    const library = await this.#libraries.loadOidc()
    const body = {
      provider: OIDC_PROVIDER,
      callbackURL: returnTo,
      errorCallbackURL: returnTo,
      disableRedirect: true,
      ...(invitation && { additionalData: { [INVITATION_MEMBER]: toTokenHash(invitation) } }),
    }
    const { response, headers } = await library.api.signInSocial({
      body,
      headers: toLibraryHeaders(visitor),
      returnHeaders: true,
    })
    await this.#sweep()
    if (!('url' in response) || typeof response.url !== 'string') throw oidcUnavailable(undefined)
    return { url: response.url, cookies: readCookies(headers) }
  }

  /**
   * Handles the browser's return from the identity provider.
   * @returns a redirect to where the sign-in began
   * @throws GatewayError `not_found`, `unavailable`, `unauthorized`
   */
  async endOidc(query: string, visitor: Visitor): Promise<Response> {
    const library = await this.#libraries.loadOidc()
    const url = `${this.#options.publicOrigin}${AUTH_PATH}/callback/${OIDC_PROVIDER}${query}`
    const response = await library.handler(new Request(url, { headers: toLibraryHeaders(visitor) }))
    if (response.status !== 302)
      throw new GatewayError('unauthorized', 'The sign-in could not be completed. Start again.')
    return response
  }

  async #openSession(
    body: { readonly email: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn> {
    const library = await this.#libraries.load()
    const { headers } = await library.api
      .signInEmail({ body, headers: toLibraryHeaders(visitor), returnHeaders: true })
      .catch((error: unknown) => {
        throw loginProblem(error, 'password')
      })
    const cookies = readCookies(headers)
    const cookie = cookies.map((each) => each.slice(0, each.indexOf(';'))).join('; ')
    const session = await this.findSession(new Headers({ cookie }))
    if (session === undefined) throw new Error('a session that was just opened is not there')
    return { session, cookies }
  }

  #planJoining(given: SignUp, email: string): Joining {
    const { signUp } = this.#options
    if (given.invitation !== undefined && signUp !== 'closed')
      return { type: 'invitation', tokenSha256: toTokenHash(given.invitation) }
    // A key of the account has full access to the account, so without members the key's holder may
    // become the owner.
    if (given.keyAccountId !== undefined) return { type: 'first', accountId: given.keyAccountId }
    if (signUp === 'open') return { type: 'own', accountName: toAccountName(email) }
    throw signUp === 'closed'
      ? new GatewayError('forbidden', 'Sign-up is closed.')
      : refusalOfJoining('not-invited')
  }

  async #sweep(): Promise<void> {
    const now = systemClock.now()
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return
    this.#sweptAt = now
    await this.#options.users.deleteExpired(now)
    await this.#attempts.deleteExpired()
  }
}

function toTokenHash(token: Secret): string {
  return hash('sha256', token.reveal(), 'hex')
}

/** Only the needed headers: forwarded addresses, for example, are trusted only when verified. */
function toLibraryHeaders({ headers, address }: Visitor): Headers {
  const chosen = new Headers()
  const cookie = headers.get('cookie')
  if (cookie !== null) chosen.set('cookie', cookie)
  const userAgent = headers.get('user-agent')?.slice(0, MOST_USER_AGENT_CHARACTERS)
  if (userAgent) chosen.set('user-agent', userAgent)
  if (address !== undefined) chosen.set(CLIENT_ADDRESS_HEADER, address)
  return chosen
}

export interface CreateIdentityOptions {
  readonly store: Pick<Store, 'database' | 'users' | 'members' | 'signInTries'>
  readonly settings: Pick<IdentityOptions, 'signUp' | 'publicOrigin' | 'oidc'>
  readonly masterKey: () => Secret
  readonly report: (message: string, cause: unknown) => void
  readonly onMember?: IdentityOptions['onMember']
}

export function createIdentity({
  store,
  settings,
  masterKey,
  report,
  onMember,
}: CreateIdentityOptions): Identity {
  const { database, users, members, signInTries } = store
  const { signUp, publicOrigin, oidc } = settings
  let derived: Secret | undefined
  /**
   * Constant for the process: after a rotation, two libraries with different secrets would refuse
   * each other's cookies.
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
    onMember,
  })
}

/** RFC 5869: the context separates this key from other keys derived from the master key. */
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

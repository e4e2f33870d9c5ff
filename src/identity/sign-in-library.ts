/**
 * better-auth over the gateway's tables, loaded late because loading takes 0.1 s and tens of
 * megabytes. Not used: its sign-up (ours is one transaction with the account), its limiter
 * (unbounded memory), and its origin check (ours is stricter).
 */
import type { BetterAuthPlugin } from '@better-auth/core'
import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { getOAuthState } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import type { Kysely } from 'kysely'
import { isHttps } from '../core/http.ts'
import { createDigits, createSessionId, createUserId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import type { Schema } from '../store/schema.ts'
import type { PasswordHashes } from './passwords.ts'
import {
  AUTH_PATH,
  CLIENT_ADDRESS_HEADER,
  COOKIE_PREFIX,
  HOST_PREFIX,
  INVITATION_MEMBER,
  OIDC_PROVIDER,
  PASSWORD_LENGTH,
  SESSION_SECONDS,
} from './sign-in-constants.ts'
import { bindLogins, hashSessionTokens } from './wrap-adapter.ts'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
}

export interface SignInLibraryOptions {
  readonly database: Kysely<Schema>
  readonly secret: Secret
  readonly publicOrigin: string | undefined
  readonly oidc: OidcProvider | undefined
  readonly passwords: PasswordHashes
  /**
   * Runs before an identity provider's answer creates a user.
   * @param invitation the hash of the token that the sign-in began with, if any
   * @throws the error of `refuse`
   */
  readonly beforeUser: (
    user: { readonly email: string; readonly emailVerified: boolean },
    invitation: string | undefined,
  ) => Promise<void>
  /**
   * Runs before any session is created: the user must belong to an account by now.
   * @throws the error of `refuse`
   */
  readonly beforeSession: (userId: string, invitation: string | undefined) => Promise<void>
  readonly report: (message: string, cause: unknown) => void
}

export type SignInLibrary = ReturnType<typeof createSignInLibrary>

type LibraryOptions = Parameters<ReturnType<typeof kyselyAdapter>>[0]

/**
 * With `oidc` promises reject while the identity provider is unreachable, because its endpoints are
 * discovered first.
 */
export function createSignInLibrary(options: SignInLibraryOptions) {
  const { database, publicOrigin, oidc, passwords } = options
  const isSecure = isHttps(publicOrigin)
  let issuer: string | undefined
  const invitationOfSignIn = async () => (oidc === undefined ? undefined : await readInvitation())
  return betterAuth({
    appName: 'Gatehouse',
    // Always set, so that the library's own variable has no effect. Redirects use this address and
    // need a public one.
    baseURL: publicOrigin ?? 'http://gatehouse.invalid',
    basePath: AUTH_PATH,
    secrets: [{ version: 1, value: options.secret.reveal() }],
    database: (libraryOptions: LibraryOptions) =>
      bindLogins(
        hashSessionTokens(
          kyselyAdapter(database, { type: 'sqlite', transaction: false })(libraryOptions),
        ),
        () => issuer,
      ),
    telemetry: { enabled: false },
    // The browser's destination when the beginning of the sign-in is unknown.
    onAPIError: { errorURL: `${publicOrigin ?? ''}/` },
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, ...rest) =>
        options.report(
          message,
          rest.find((each) => each instanceof Error),
        ),
    },
    advanced: {
      cookiePrefix: isSecure ? `${HOST_PREFIX}${COOKIE_PREFIX}` : COOKIE_PREFIX,
      // `true` would give names the prefix `__Secure-`, which another host under the same domain
      // may set too.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isSecure },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      database: { generateId: ({ model }) => createId(model) },
      disableCSRFCheck: true,
      disableOriginCheck: true,
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      password: {
        hash: (password) => passwords.hash(password),
        verify: (given) => passwords.verify(given),
      },
    },
    // Sessions have a fixed end: reading never writes, and using a stolen cookie does not extend
    // the session.
    session: {
      expiresIn: SESSION_SECONDS,
      disableSessionRefresh: true,
      modelName: 'user_sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    account: {
      modelName: 'user_logins',
      fields: {
        accountId: 'subject',
        providerId: 'provider_id',
        userId: 'user_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: { issuer: { type: 'string', input: false } },
      // A password user's address is not verified, so an identity provider's claim must not give
      // access to that user.
      accountLinking: { enabled: false },
      updateAccountOnSignIn: false,
    },
    verification: {
      modelName: 'user_verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
      storeIdentifier: 'hashed',
    },
    databaseHooks: {
      user: {
        create: {
          before: async (user) => void (await options.beforeUser(user, await invitationOfSignIn())),
        },
      },
      session: {
        create: {
          before: async ({ userId }) =>
            void (await options.beforeSession(userId, await invitationOfSignIn())),
        },
      },
      account: {
        create: {
          // The identity provider is not called later, so its tokens are not stored.
          before: async (account) => ({
            data: { ...account, accessToken: null, refreshToken: null, idToken: null },
          }),
        },
      },
    },
    plugins:
      oidc === undefined ? [] : [openIdConnect(oidc), tellIssuer((found) => (issuer = found))],
  })
}

async function readInvitation(): Promise<string | undefined> {
  const held = (await getOAuthState())?.[INVITATION_MEMBER]
  return typeof held === 'string' ? held : undefined
}

function openIdConnect({ issuer, clientId, clientSecret }: OidcProvider) {
  return genericOAuth({
    config: [
      {
        providerId: OIDC_PROVIDER,
        discoveryUrl: `${issuer}/.well-known/openid-configuration`,
        clientId,
        clientSecret: clientSecret.reveal(),
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
        requireIdTokenVerification: true,
        disableProviderLogout: true,
        mapProfileToUser: toUser,
        accountSubject: ({ tokens, profile }) => subjectOf(tokens.idToken, clientId, profile.sub),
      },
    ],
  })
}

/**
 * The preceding plugin continues without a provider whose endpoints it did not find, and retries
 * with each request.
 */
function tellIssuer(tell: (issuer: string) => void) {
  return {
    id: 'issuer',
    init({ socialProviders }) {
      const issuer = socialProviders.find(({ id }) => id === OIDC_PROVIDER)?.issuer
      if (issuer === undefined)
        throw new Error('The identity provider did not report its addresses and its issuer.')
      tell(issuer)
    },
  } satisfies BetterAuthPlugin
}

/** The same form as for users who are invited or sign up. */
const ADDRESS = /^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/
const MOST_ADDRESS_CHARACTERS = 254
const MOST_NAME_CHARACTERS = 120
const UNFIT_IN_NAMES = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u

/**
 * A provider's claims may be anything, including `emailVerified`, and the library uses claims
 * unchecked. Some providers send text instead of a boolean
 * (https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple).
 */
function toUser(claims: Readonly<Record<string, unknown>>) {
  const { email, email_verified: verified, name } = claims
  const address = typeof email === 'string' ? email : null
  // Some other letters become ASCII in lower case, which could give another person's address.
  const isAddress =
    address !== null && address.length <= MOST_ADDRESS_CHARACTERS && ADDRESS.test(address)
  return {
    email: address,
    emailVerified: isAddress && (verified === true || verified === 'true'),
    name: toName(name) || (isAddress ? toName(address) : ''),
    image: '',
  }
}

/**
 * A profile must belong to the subject of the ID token, because only the token is signed and bound
 * to this sign-in (OpenID Connect Core §5.3.2). A token issued to another client is refused, even
 * if this client may read it (§3.1.3.7, 4 and 5).
 * @param idToken verified: its issuer, its expiry, and that `clientId` is in its audience
 * @throws an error that ends the sign-in
 */
function subjectOf(idToken: string | undefined, clientId: string, told: unknown): string {
  const payload = Buffer.from(idToken?.split('.')[1] ?? '', 'base64url').toString() || '{}'
  const { sub, aud, azp } = JSON.parse(payload) as Readonly<Record<string, unknown>>
  if ((typeof sub !== 'string' && typeof sub !== 'number') || sub !== told)
    throw new Error("The identity provider's profile and id token name different persons.")
  const hasOthers = Array.isArray(aud) && aud.length > 1
  if (azp === undefined ? hasOthers : azp !== clientId)
    throw new Error('The identity provider issued its id token to another client.')
  return String(sub)
}

function toName(text: unknown): string {
  if (typeof text !== 'string') return ''
  const plain = text.slice(0, 2 * MOST_NAME_CHARACTERS).replaceAll(UNFIT_IN_NAMES, ' ')
  const name = plain.trim().slice(0, MOST_NAME_CHARACTERS).toWellFormed()
  return SEEN.test(name) ? name : ''
}

function createId(model: string): string {
  if (model === 'user') return createUserId()
  if (model === 'session') return createSessionId()
  return createDigits()
}

/**
 * `/v1/auth`: signing up, in and out. Public except what needs a session; only these answers set
 * cookies.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import {
  beginOidcBody,
  changePasswordBody,
  currentSessionBody,
  invitationOfferBody,
  invitationOfferRequest,
  oidcRedirectBody,
  signInBody,
  signInOptionsBody,
  signUpBody,
} from '../../contract/users.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import type { OpenSession, SignedIn } from '../../identity/identity.ts'
import { describeWeakPassword } from '../../identity/passwords.ts'
import {
  assertMayGiveAccess,
  assertUser,
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
  visitorOf,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { toCurrentSessionBody } from './sessions.ts'

const tags = ['Sign-in']
const security: Record<string, string[]>[] = []
const CSRF_NOTE =
  "A browser's own requests only: `origin` must be the gateway's, and " +
  '`x-gatehouse-csrf: 1` be there.'

const optionsRoute = createRoute({
  method: 'get',
  path: '/v1/auth',
  operationId: 'getSignInOptions',
  summary: 'Show the sign-in options',
  tags,
  security,
  request: { query: noQuery },
  responses: { 200: jsonContent(signInOptionsBody, 'The facts that a sign-in page needs.') },
})

const signUpRoute = createRoute({
  method: 'post',
  path: '/v1/auth/sign-up',
  operationId: 'signUp',
  summary: 'Create a user and sign in',
  description:
    'A new user needs an invitation, or the API key of an account without users, whose owner the ' +
    `user becomes. If sign-up is open, the user gets a new account without either. ${CSRF_NOTE}`,
  tags,
  security: [{}, { bearer: [] }],
  request: jsonRequest(signUpBody, 'The new user.'),
  responses: {
    201: jsonContent(currentSessionBody, 'Signed in: the cookie is set.'),
    ...errorAnswers(400, 403, 409, 413, 429),
  },
})

const signInRoute = createRoute({
  method: 'post',
  path: '/v1/auth/sign-in',
  operationId: 'signIn',
  summary: 'Sign in with email and password',
  description: CSRF_NOTE,
  tags,
  security,
  request: jsonRequest(signInBody, 'The email address and the password.'),
  responses: {
    200: jsonContent(currentSessionBody, 'Signed in: the cookie is set.'),
    ...errorAnswers(400, 403, 413, 429),
  },
})

const signOutRoute = createRoute({
  method: 'delete',
  path: '/v1/session',
  operationId: 'signOut',
  summary: 'Sign out',
  description: 'After this answer, no request with the cookie is accepted.',
  tags,
  security: [{ session: [] }],
  request: { query: noQuery },
  responses: { 204: { description: 'Signed out.' }, ...errorAnswers(403) },
})

const passwordRoute = createRoute({
  method: 'post',
  path: '/v1/auth/password',
  operationId: 'changePassword',
  summary: 'Change your password',
  description: 'Every other session of the user ends.',
  tags,
  security: [{ session: [] }],
  request: jsonRequest(changePasswordBody, 'The present and the new password.'),
  responses: {
    204: { description: 'The password is changed.' },
    ...errorAnswers(400, 403, 409, 413, 429),
  },
})

const offerRoute = createRoute({
  method: 'post',
  path: '/v1/auth/invitation',
  operationId: 'getInvitationOffer',
  summary: 'Show an invitation',
  description: `Shows the invitation to the person who has its token, before the person accepts. ${CSRF_NOTE}`,
  tags,
  security,
  request: jsonRequest(invitationOfferRequest, 'The token of the invitation.'),
  responses: {
    200: jsonContent(invitationOfferBody, 'The account and the user who sent the invitation.'),
    ...errorAnswers(400, 403, 404, 413, 429),
  },
})

const beginOidcRoute = createRoute({
  method: 'post',
  path: '/v1/auth/oidc',
  operationId: 'beginOidc',
  summary: 'Start signing in with the identity provider',
  description: CSRF_NOTE,
  tags,
  security,
  request: jsonRequest(beginOidcBody, 'The address that the browser opens afterwards.'),
  responses: {
    200: jsonContent(oidcRedirectBody, 'The address to send the browser to.'),
    ...errorAnswers(400, 403, 404, 413, 429, 503),
  },
})

const endOidcRoute = createRoute({
  method: 'get',
  path: '/v1/auth/callback/oidc',
  operationId: 'endOidc',
  summary: 'Callback of the identity provider',
  tags,
  security,
  request: { query: z.looseObject({}) },
  responses: {
    302: { description: 'Redirects to the page where the sign-in started.' },
    ...errorAnswers(404, 503),
  },
})

export function bindSignIn(
  app: ControlPlaneApp,
  {
    identity,
    accounts,
    members,
    invitations,
    authenticate,
  }: Pick<
    ControlPlaneDependencies,
    'identity' | 'accounts' | 'members' | 'invitations' | 'authenticate'
  >,
): void {
  app.openapi(optionsRoute, async (c) => {
    const hasOwner = await members.hasAny(DEFAULT_ACCOUNT)
    return c.json({ signUp: identity.signUpPolicy, oidc: identity.hasOidc, hasOwner }, 200)
  })

  app.openapi(signUpRoute, async (c) => {
    const visitor = visitorOf(c.env)
    const { email, name, password, invitation } = c.req.valid('json')
    assertStrong('password', password, email)
    const caller = visitor.headers.has('authorization')
      ? await authenticate(visitor.headers, visitor.address)
      : undefined
    if (caller !== undefined) assertMayGiveAccess(caller)
    const keyAccountId = caller?.accountId
    const given = {
      email,
      name,
      password,
      keyAccountId,
      invitation: invitation === undefined ? undefined : new Secret(invitation),
    }
    const signedIn = await identity.signUp(given, visitor)
    return c.json(await toAnswer(signedIn), 201, setCookies(signedIn.cookies))
  })

  app.openapi(signInRoute, async (c) => {
    const visitor = visitorOf(c.env)
    const signedIn = await identity.signIn(c.req.valid('json'), visitor)
    return c.json(await toAnswer(signedIn), 200, setCookies(signedIn.cookies))
  })

  app.openapi(signOutRoute, async (c) => {
    assertUser(callerOf(c.env).actor)
    return c.body(null, 204, setCookies(await identity.signOut(visitorOf(c.env))))
  })

  app.openapi(passwordRoute, async (c) => {
    const { sessionId, member, sessionExpiresAt } = assertUser(callerOf(c.env).actor)
    const { currentPassword, newPassword } = c.req.valid('json')
    assertStrong('newPassword', newPassword, member.email)
    const session: OpenSession = { id: sessionId, member, expiresAt: sessionExpiresAt }
    const cookies = await identity.changePassword(
      { currentPassword, newPassword },
      session,
      visitorOf(c.env),
    )
    return c.body(null, 204, setCookies(cookies))
  })

  app.openapi(beginOidcRoute, async (c) => {
    const visitor = visitorOf(c.env)
    const { returnTo, invitation } = c.req.valid('json')
    const given = {
      returnTo,
      invitation: invitation === undefined ? undefined : new Secret(invitation),
    }
    const { url, cookies } = await identity.beginOidc(given, visitor)
    return c.json({ url }, 200, setCookies(cookies))
  })

  app.openapi(offerRoute, async (c) => {
    const token = new Secret(c.req.valid('json').invitation)
    const hashed = identity.hashInvitation(token, visitorOf(c.env))
    const offer = await invitations.findOffer(hashed, systemClock.now())
    if (offer === undefined)
      throw new GatewayError('not_found', 'There is no open invitation with this token.')
    return c.json({ ...offer, expiresAt: new Date(offer.expiresAt).toISOString() }, 200)
  })

  app.openapi(endOidcRoute, async (c) => {
    const response = await identity.endOidc(new URL(c.req.url).search, visitorOf(c.env))
    return response as never
  })

  async function toAnswer({ session }: SignedIn) {
    const { member } = session
    const caller: Pick<ControlPlaneCaller, 'accountId' | 'actor'> = {
      accountId: member.accountId,
      actor: {
        type: 'user',
        userId: member.userId,
        sessionId: session.id,
        member,
        sessionExpiresAt: session.expiresAt,
      },
    }
    return toCurrentSessionBody(caller, await accounts.find(member.accountId))
  }
}

function assertStrong(field: string, password: string, email: string): void {
  const message = describeWeakPassword(password, email.toLowerCase())
  if (message !== undefined) throw refuse([{ field, message }])
}

function setCookies(cookies: readonly string[]): { readonly 'set-cookie': string[] } {
  return { 'set-cookie': [...cookies] }
}

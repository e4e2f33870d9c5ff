import { getPath } from 'hono/utils/url'
import type { ChangeActor, ChangeOrigin } from '../core/audit.ts'
import { GatewayError } from '../core/errors.ts'
import { HTTP_METHODS } from '../core/http.ts'
import type { CallId } from '../core/ids.ts'
import { stoppedError } from '../core/stop.ts'
import { assertSameOrigin } from '../identity/same-origin.ts'
import { type AssertMayStillAct, withOrigin } from '../store/changes/change-origin.ts'
import { watchChanges } from '../store/changes/changes-made.ts'
import { assertSessionStays } from '../store/users/users.ts'
import {
  type Actor,
  type BodyTime,
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  OPENAPI_PATH,
} from './control-plane-app.ts'
import { DOCS_PATHS } from './openapi/docs-page.ts'
import { readJsonBody, SIGN_IN_PATH } from './read-json-body.ts'
import { answerError, toRefusal } from './refusals.ts'
import { PLAYGROUND_PATH } from './resources/playground.ts'

export interface ControlRequest {
  request: Request
  readonly requestId: CallId
  readonly clientAddress: string | undefined
  routes?: ControlPlaneApp | undefined
  caller?: ControlPlaneCaller
  checked?: Request
}

export type Middleware = (
  context: ControlRequest,
  next: () => Promise<Response>,
  dependencies: ControlPlaneDependencies,
) => Promise<Response>

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const CREATED = 201
/** After a slower body the caller's rights are checked again. */
const SLOW_BODY_MS = 50
const BODILESS_PATH =
  /^\/v1\/(?:reload|(?:gates|webhooks)\/[^/]+\/test|owned-models\/[^/]+\/probe|(?:members|access-tokens)\/[^/]+\/stop)$/
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  OPENAPI_PATH,
  ...DOCS_PATHS,
  '/v1/auth',
  '/v1/auth/sign-up',
  '/v1/auth/sign-in',
  '/v1/auth/oidc',
  '/v1/auth/invitation',
  '/v1/auth/callback/oidc',
])

export const setHeaders: Middleware = async ({ requestId }, next) => {
  const response = await next()
  response.headers.set('x-request-id', requestId)
  response.headers.set('cache-control', 'no-store')
  return response
}

/** Reports the route's template and the caller, never the path or the query itself. */
export const reportAnswer: Middleware = async (context, next, { onAnswered }) => {
  const startedAt = performance.now()
  const response = await next()
  const { request, requestId, routes, caller } = context
  onAnswered?.({
    requestId,
    method: NAMED_METHODS.has(request.method) ? request.method : 'other',
    path: routes === undefined ? null : templateOf(routes, request),
    status: response.status,
    actor: caller?.keyId ?? null,
    durationMs: Math.round(performance.now() - startedAt),
  })
  return response
}

const NAMED_METHODS: ReadonlySet<string> = new Set(HTTP_METHODS)

function templateOf(routes: ControlPlaneApp, request: Request): string | null {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const [matched] = routes.router.match(method, getPath(request))
  return matched.at(-1)?.[0][1].path ?? null
}

export const answerErrors: Middleware = async ({ requestId }, next, dependencies) =>
  await next().catch((thrown: unknown) => answerError(thrown, requestId, dependencies))

/**
 * Unknown addresses and methods count against the client's address.
 * @throws GatewayError 404, 405
 */
export const findRoute: Middleware = async (
  { request, routes, clientAddress },
  next,
  { requestRates },
) => {
  const path = getPath(request)
  const methods =
    routes === undefined
      ? []
      : METHODS.filter((method) => routes.router.match(method, path)[0].length > 0)
  if (methods.includes('GET')) methods.push('HEAD')
  const isServed = methods.includes(request.method)
  if (!isServed || isPublic(request)) requestRates?.takeUnknown(clientAddress)
  // Nothing has a NUL in its name, and Postgres refuses a NUL in text.
  if (methods.length === 0 || path.includes('\0'))
    throw new GatewayError('not_found', 'There is nothing at this address.')
  if (!isServed) throw methodNotAllowed(methods)
  return await next()
}

function isPublic(request: Request): boolean {
  return PUBLIC_PATHS.has(getPath(request))
}

function methodNotAllowed(methods: readonly string[]): GatewayError {
  const allow = methods.join(', ')
  return new GatewayError('method_not_allowed', `This address accepts only ${allow}.`, {
    headers: { allow },
  })
}

/** Refuses sign-ins from other sites, which could sign the visitor in to a stranger's account. */
export const refuseOtherSites: Middleware = async ({ request }, next, { identity }) => {
  if (isPublic(request)) assertSameOrigin(request, identity.publicOrigin)
  return await next()
}

export const authenticate: Middleware = async (context, next, dependencies) => {
  if (!isPublic(context.request)) context.caller = await findCaller(context, dependencies)
  return await next()
}

/**
 * Known callers never count against their address, so a neighbour's wrong keys do not block them.
 */
async function findCaller(
  { request, clientAddress }: ControlRequest,
  dependencies: ControlPlaneDependencies,
): Promise<ControlPlaneCaller> {
  try {
    return await authenticateCaller(dependencies, request, clientAddress)
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.kind === 'unauthorized')
      dependencies.requestRates?.takeUnknown(clientAddress)
    throw thrown
  }
}

/**
 * Authenticates by an API key in `Authorization`, or else by a session cookie. A change with a
 * cookie must come from the gateway's own pages.
 * @throws GatewayError `unauthorized`, `forbidden`
 */
export async function authenticateCaller(
  { authenticate, callerOfUser, identity }: ControlPlaneDependencies,
  request: Request,
  clientAddress: string | undefined,
): Promise<ControlPlaneCaller> {
  const { headers } = request
  if (headers.has('authorization') || !identity.hasSessionCookie(headers)) {
    const caller = await authenticate(headers, clientAddress)
    return { ...caller, actor: { type: 'key', keyId: caller.keyId } }
  }
  const session = await identity.findSession(headers)
  if (session === undefined)
    throw new GatewayError('unauthorized', 'The session has ended or is invalid: sign in again.')
  assertSameOrigin(request, identity.publicOrigin)
  const { id, member, expiresAt } = session
  const caller = await callerOfUser(member.accountId, member.userId)
  if (caller.stop !== undefined && !isSignOut(request)) throw stoppedError(caller.stop)
  return {
    ...caller,
    owner: id,
    actor: {
      type: 'user',
      userId: member.userId,
      sessionId: id,
      member,
      sessionExpiresAt: expiresAt,
    },
  }
}

function isSignOut(request: Request): boolean {
  return request.method === 'DELETE' && getPath(request) === '/v1/session'
}

export const limitRate: Middleware = async ({ caller }, next, { requestRates }) => {
  if (caller !== undefined) requestRates?.take(caller)
  return await next()
}

/** Anyone can send a sign-in, so sign-ins are limited before their bodies are read. */
export const limitSignIns: Middleware = async ({ request, clientAddress }, next, { identity }) => {
  if (getPath(request).startsWith(SIGN_IN_PATH) && METHODS_WITH_BODY.has(request.method))
    identity.beginRequest(clientAddress)
  return await next()
}

/**
 * For the playground the data plane reads the body, within its own limits. After a slow body the
 * caller is authenticated again, because its key may have been deleted meanwhile.
 */
export const readBody: Middleware = async (context, next, dependencies) => {
  const { request } = context
  const path = getPath(request)
  const beganAtMs = performance.now()
  context.checked =
    path === PLAYGROUND_PATH
      ? new Request(request.url, { method: request.method })
      : await withCheckedBody(request, {
          mayBeAbsent: BODILESS_PATH.test(path),
          time: dependencies.bodyTime,
        })
  if (context.caller !== undefined && performance.now() - beganAtMs >= SLOW_BODY_MS)
    context.caller = await findCaller(context, dependencies)
  return await next()
}

async function withCheckedBody(
  request: Request,
  { mayBeAbsent, time }: BodyRules,
): Promise<Request> {
  const { url } = request
  // The runtime omits the body of an answer to HEAD and still sends its length. Hono would drop the
  // body first, and the length would be 0.
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (!METHODS_WITH_BODY.has(method)) return new Request(url, { method })
  const body = mayBeAbsent && request.body === null ? '{}' : await readJsonBody(request, time)
  return new Request(url, { method, body, headers: { 'content-type': 'application/json' } })
}

interface BodyRules {
  readonly mayBeAbsent: boolean
  readonly time: BodyTime
}

export const confirmChanges: Middleware = async (context, next, dependencies) => {
  const { requestId, caller } = context
  const { keys, onFailure } = dependencies
  const { result: response, hasChanged } = await watchChanges(async () =>
    withOrigin(changeOriginOf(context, keys), next, caller && rightOf(caller.actor, keys)),
  )
  if (!hasChanged) return response
  try {
    await dependencies.confirmChanges?.()
  } catch (thrown) {
    // The answer may contain a secret that is shown once, and losing the secret is worse than a
    // change that is not in effect everywhere yet.
    if (response.status !== CREATED) throw thrown
    onFailure?.(toRefusal(thrown), requestId)
  }
  return response
}

/** A public route has no actor, because signing up creates the actor. */
function changeOriginOf(
  { caller, requestId, clientAddress }: ControlRequest,
  keys: ControlPlaneDependencies['keys'],
): ChangeOrigin {
  return {
    actor: caller === undefined ? null : toChangeActor(caller.actor, keys),
    requestId,
    clientAddress: clientAddress ?? null,
  }
}

/** A change that waited is made only if its author's key or session still exists. */
function rightOf(actor: Actor, keys: ControlPlaneDependencies['keys']): AssertMayStillAct {
  return async (transaction) => {
    if (actor.type === 'user') await assertSessionStays(transaction, actor.sessionId)
    else if (keys.nameOf(actor.keyId) === undefined)
      throw new GatewayError('unauthorized', 'The API key was deleted before the change was made.')
  }
}

function toChangeActor(actor: Actor, keys: ControlPlaneDependencies['keys']): ChangeActor {
  return actor.type === 'key'
    ? { type: 'key', id: actor.keyId, name: keys.nameOf(actor.keyId) ?? null }
    : { type: 'user', id: actor.userId, name: actor.member.email }
}

/** The middlewares of the control plane. `router.ts` has their order. Knows no resource. */
import { getPath } from 'hono/utils/url'
import type { ChangeActor, ChangeOrigin } from '../core/audit.ts'
import { GatewayError, invalidRequest } from '../core/errors.ts'
import { HTTP_METHODS, isJsonContentType } from '../core/http.ts'
import type { CallId } from '../core/ids.ts'
import { assertSameOrigin } from '../identity/same-origin.ts'
import { type AssertMayStillAct, withOrigin } from '../store/changes/change-origin.ts'
import { watchChanges } from '../store/changes/changes-made.ts'
import { assertSessionStays } from '../store/users/users.ts'
import { JsonSyntaxError } from '../wire/json-scan.ts'
import { scanJsonObject } from '../wire/json-splice.ts'
import {
  type Actor,
  type BodyTime,
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  OPENAPI_PATH,
  onlyCalls,
} from './control-plane-app.ts'
import { DOCS_PATHS } from './openapi/docs-page.ts'
import { answerError, refuse, toRefusal } from './refusals.ts'
import { PLAYGROUND_PATH } from './resources/playground.ts'

/** A request, with what the middlewares have found out about it. */
export interface ControlRequest {
  request: Request
  readonly requestId: CallId
  readonly clientAddress: string | undefined
  /** The routes at this address and related ones. Undefined: the address is unknown. */
  routes?: ControlPlaneApp | undefined
  /** Absent before `authenticate`, and on public routes. */
  caller?: ControlPlaneCaller
  /** The request for the handler, with a checked body. Absent before `readBody`. */
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
/** Paths whose requests may have no body. */
const BODILESS_PATH = /^\/v1\/(?:(?:gates|webhooks)\/[^/]+\/test|owned-models\/[^/]+\/probe)$/
const SIGN_IN_PATH = '/v1/auth/'
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
 * Unknown addresses and methods count against the client's address. @throws GatewayError 404, 405
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
  if (methods.length === 0) throw new GatewayError('not_found', 'There is nothing at this address.')
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

/** Otherwise another site could sign the visitor in to a stranger's account. */
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
 * An API key in `Authorization`, or else a session cookie. A key has priority, because a browser
 * never sends one by itself. A change with a cookie must come from the gateway's own pages.
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
  return {
    ...callerOfUser(member.accountId, member.userId),
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

/**
 * All that an access token reaches here: who it is, and its own usage. Everything else is for API
 * keys and users.
 */
const TOKEN_ROUTES: ReadonlyMap<string, 'itself' | 'usage'> = new Map([
  ['GET /v1/session', 'itself'],
  ['GET /v1/analytics', 'usage'],
  ['GET /v1/analytics/latency', 'usage'],
])

/** @throws GatewayError `forbidden` for an access token on any other route */
export const holdToken: Middleware = async (context, next) => {
  const { caller, request } = context
  if (caller?.token === undefined) return await next()
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const kind = TOKEN_ROUTES.get(`${method} ${getPath(request)}`)
  if (kind === undefined) throw onlyCalls()
  if (kind === 'usage') context.request = ofKey(request, caller.keyId)
  return await next()
}

/** @throws GatewayError `forbidden` when it asks for another key's usage */
function ofKey(request: Request, keyId: string): Request {
  const url = new URL(request.url)
  const asked = url.searchParams.getAll('key')
  if (asked.some((key) => key !== keyId))
    throw new GatewayError('forbidden', "'key': an access token can read its own usage only.", {
      param: 'key',
    })
  url.searchParams.set('key', keyId)
  return new Request(url.href, request)
}

export const limitRate: Middleware = async ({ caller }, next, { requestRates }) => {
  if (caller !== undefined) requestRates?.take(caller)
  return await next()
}

/** Before the body is read, since anyone can send these. */
export const limitSignIns: Middleware = async ({ request, clientAddress }, next, { identity }) => {
  if (getPath(request).startsWith(SIGN_IN_PATH) && METHODS_WITH_BODY.has(request.method))
    identity.beginRequest(clientAddress)
  return await next()
}

/**
 * For the playground the data plane reads the body, within its own limits. After a slow body the
 * caller is authenticated again: it could otherwise hold a request open, and create a key after its
 * own was deleted.
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

/** The request for the handlers. Its body, if the method has one, is a JSON object. */
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
  /** A missing body counts as `{}`. */
  readonly mayBeAbsent: boolean
  readonly time: BodyTime
}

/** Far above the need of any resource. */
const MAX_BODY_BYTES = 1_000_000
/** For unauthenticated requests, which hold a name, an email address and a password. */
const MAX_SIGN_IN_BYTES = 16_384
/** Each value costs validation, and perhaps a line in the refusal. */
const MAX_VALUES = 20_000

/** @throws GatewayError `invalid_request`, `payload_too_large` or `request_timeout` */
export async function readJsonBody(
  request: Request,
  time: BodyTime,
): Promise<Uint8Array<ArrayBuffer>> {
  const type = request.headers.get('content-type')
  if (type !== null && !isJsonContentType(type)) {
    throw refuse([{ field: 'content-type', message: 'this header must be application/json' }])
  }
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw refuse([
      {
        field: 'content-encoding',
        message: 'this header must be absent: compressed bodies are not read',
      },
    ])
  }
  const { pathname } = new URL(request.url)
  const maxBytes = pathname.startsWith(SIGN_IN_PATH) ? MAX_SIGN_IN_BYTES : MAX_BODY_BYTES
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  const bytes = await within(time, readBytes(request, maxBytes)).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    // The client left while sending; not a failure of the gateway.
    throw new GatewayError('invalid_request', 'The body could not be read completely.', {
      cause: error,
    })
  })
  if (bytes.length === 0) throw invalidRequest('The body is empty; it must be a JSON object.')
  try {
    scanJsonObject(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`The body is not a valid JSON object: ${error.message}.`)
  }
  if (hasTooManyValues(bytes))
    throw invalidRequest(
      `The body has more than ${MAX_VALUES} values.`,
      undefined,
      'too_many_values',
    )
  return bytes
}

/** @param json valid JSON */
function hasTooManyValues(json: Uint8Array): boolean {
  let separators = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === COMMA && ++separators >= MAX_VALUES) return true
  }
  return false
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

async function within<T>({ clock, timeoutMs }: BodyTime, reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const callOff = clock.after(timeoutMs, () =>
    late.reject(new GatewayError('request_timeout', 'The request body did not arrive in time.')),
  )
  return await Promise.race([reading, late.promise]).finally(callOff)
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  if (request.body !== null) {
    for await (const chunk of request.body) {
      length += chunk.length
      // The header may be missing or wrong, so the bytes are counted too. Leaving the loop cancels
      // the rest.
      if (length > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}

/** Provides the actor for the audit log, and answers when the change is in effect on every node. */
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
    // The answer may contain a secret that is shown once: losing it is worse than a change that is
    // not in effect everywhere yet.
    if (response.status !== CREATED) throw thrown
    onFailure?.(toRefusal(thrown), requestId)
  }
  return response
}

/** Without an actor on public routes: signing up creates one. */
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

/**
 * The control plane: what every request goes through before it reaches the resource that it is for.
 * Costly to load (zod, OpenAPI): import it when it is first needed.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import { getPath } from 'hono/utils/url'
import type { ChangeActor, ChangeOrigin } from '../core/audit.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { HTTP_METHODS } from '../core/http.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import { assertSameOrigin } from '../identity/same-origin.ts'
import { type AssertMayStillAct, withOrigin } from '../store/changes/change-origin.ts'
import { watchChanges } from '../store/changes/changes-made.ts'
import { type StoreFailure, storeFailureOf } from '../store/database/store-failure.ts'
import { assertSessionStays } from '../store/users/users.ts'
import { type Actor, authenticateCaller, type ControlPlaneCaller } from './authenticate-caller.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneBindings,
  type ControlPlaneDependencies,
  OPENAPI_PATH,
} from './control-plane-app.ts'
import { DOCS_PATHS } from './openapi/docs-page.ts'
import { type BodyTime, readJsonBody } from './read-json-body.ts'
import { refuseProblems, toErrorResponse } from './refusals.ts'
import { PLAYGROUND_PATH } from './resources/playground.ts'
import { placeOf, resourcesAt } from './resources.ts'

export interface ControlPlane {
  /** Answers every request, unknown paths too (404); never rejects. */
  handle(request: Request, requestId: CallId, clientAddress?: string): Promise<Response>
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const CREATED = 201
/** A body that took so long may come from somebody who may not send it any more. */
const LATE_BODY_MS = 50
/** Paths whose requests may come without a body. */
const BODILESS_PATH = /^\/v1\/(?:(?:gates|webhooks)\/[^/]+\/test|owned-models\/[^/]+\/probe)$/
/**
 * Requests to these are bounded before their bodies are read: nobody has to be known to make them.
 */
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

export function createControlPlane(dependencies: ControlPlaneDependencies): ControlPlane {
  const apps = new Map<string, Promise<ControlPlaneApp>>()

  return {
    async handle(request, requestId, clientAddress) {
      const answered = observeRequest(dependencies, request, requestId)
      const found: { app?: ControlPlaneApp | undefined } = {}
      const answer = async () => {
        found.app = await appAt(getPath(request))
        return await dispatch(found.app, request, requestId, clientAddress)
      }
      const response = await answer().catch((error: unknown) => answerError(error, requestId))
      response.headers.set('x-request-id', requestId)
      response.headers.set('cache-control', 'no-store')
      answered?.(response.status, found.app)
      return response
    },
  }

  /**
   * The resources at an address and its neighbours, loaded with the first request for one of them.
   */
  function appAt(path: string): Promise<ControlPlaneApp> | undefined {
    const place = placeOf(path)
    const resources = resourcesAt(place)
    if (resources.length === 0) return undefined
    const loaded = apps.get(place) ?? loadApp(resources)
    apps.set(place, loaded)
    return loaded
  }

  async function loadApp(resources: ReturnType<typeof resourcesAt>): Promise<ControlPlaneApp> {
    const app: ControlPlaneApp = new OpenAPIHono<{ Bindings: ControlPlaneBindings }>({
      defaultHook: refuseProblems(),
    })
    const binds = await Promise.all(resources.map(({ load }) => load()))
    for (const bind of binds) bind(app, dependencies)
    app.onError((error, c) => answerError(error, c.env.requestId))
    return app
  }

  async function dispatch(
    app: ControlPlaneApp | undefined,
    request: Request,
    requestId: CallId,
    clientAddress: string | undefined,
  ): Promise<Response> {
    const { requestRates } = dependencies
    if (app === undefined) {
      requestRates?.takeUnknown(clientAddress)
      throw nothingThere()
    }
    const path = app.getPath(request)
    const methods = METHODS.filter((method) => app.router.match(method, path)[0].length > 0)
    if (methods.includes('GET')) methods.push('HEAD')
    const isPublic = PUBLIC_PATHS.has(path)
    const isServed = methods.includes(request.method)
    if (isPublic || !isServed) requestRates?.takeUnknown(clientAddress)
    if (methods.length === 0) throw nothingThere()
    if (!isServed) throw methodNotAllowed(methods)
    // Signing in by another site's request would make the visitor work in a stranger's account.
    if (isPublic) assertSameOrigin(request, dependencies.identity.publicOrigin)
    let caller = isPublic ? undefined : await authenticate(request, clientAddress)
    if (caller !== undefined) requestRates?.take(caller)
    noteActor(request, caller)
    if (path.startsWith(SIGN_IN_PATH) && METHODS_WITH_BODY.has(request.method))
      dependencies.identity.beginRequest(clientAddress)
    const beganAtMs = performance.now()
    // A call's body is the data plane's to read, within the data plane's limits.
    const checked =
      path === PLAYGROUND_PATH
        ? new Request(request.url, { method: request.method })
        : await withCheckedBody(request, {
            mayBeAbsent: BODILESS_PATH.test(path),
            time: dependencies.bodyTime,
          })
    // Else whoever keeps a request open makes a key of their own after theirs was deleted.
    if (caller !== undefined && performance.now() - beganAtMs >= LATE_BODY_MS)
      caller = await authenticate(request, clientAddress)
    const bindings: ControlPlaneBindings = {
      requestId,
      request,
      clientAddress,
      ...(caller === undefined ? {} : { caller }),
    }
    const origin = changeOriginOf(bindings, dependencies.keys)
    const { result: response, hasChanged } = await watchChanges(async () =>
      withOrigin(
        origin,
        () => app.fetch(checked, bindings),
        caller && rightOf(caller.actor, dependencies.keys),
      ),
    )
    if (hasChanged) await confirm(response, requestId)
    return response
  }

  /** Known callers are never counted by address: no neighbour's wrong keys keep them out. */
  async function authenticate(
    request: Request,
    clientAddress?: string,
  ): Promise<ControlPlaneCaller> {
    try {
      return await authenticateCaller(dependencies, request)
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.kind === 'unauthorized')
        dependencies.requestRates?.takeUnknown(clientAddress)
      throw thrown
    }
  }

  /** A change is in force on every node before its answer goes out. */
  async function confirm(response: Response, requestId: CallId): Promise<void> {
    try {
      await dependencies.confirmChanges?.()
    } catch (thrown) {
      // The answer may show this once what was made: losing it would be worse than a change that is
      // not everywhere yet.
      if (response.status !== CREATED) throw thrown
      dependencies.onFailure?.(toRefusal(thrown), requestId)
    }
  }

  function answerError(thrown: unknown, requestId: string): Response {
    const error = toRefusal(thrown)
    if (isWorthLogging(error)) dependencies.onFailure?.(error, requestId)
    return toErrorResponse(error)
  }
}

/**
 * A database that does not work at the moment is no fault of the gateway's: callers that wait find
 * it well again.
 */
function toRefusal(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const failure = storeFailureOf(thrown)
  if (failure === undefined) return toGatewayError(thrown)
  return new GatewayError('unavailable', UNAVAILABLE[failure], {
    headers: { 'retry-after': '2' },
    cause: thrown,
  })
}

const UNAVAILABLE: Readonly<Record<StoreFailure, string>> = {
  away: 'The database cannot be reached. Try again soon.',
  full: "The database's disk is full, so nothing can be changed. Try again when there is room.",
  'read-only': 'The database takes no changes at the moment. Try again soon.',
  busy: 'The database is busy. Try again soon.',
  denied:
    'The database does not permit this to the gateway: its operator has to grant it, as the log ' +
    'says.',
  gone:
    "The database's file is gone, so nothing can be changed. Its operator has to put it back or " +
    'restart the server.',
  disk: "The database's disk fails, so nothing can be changed. Try again soon.",
}

/** Of a database that is away the log has said so once. */
function isWorthLogging({ kind, cause }: GatewayError): boolean {
  if (kind === 'internal_error') return true
  const failure = storeFailureOf(cause)
  return failure !== undefined && failure !== 'away'
}

/**
 * The request as the resources see it: its body, where its method has one, is a JSON object and
 * says so.
 */
async function withCheckedBody(
  request: Request,
  { mayBeAbsent, time }: BodyRules,
): Promise<Request> {
  const { url } = request
  // The runtime leaves out the body of an answer to HEAD and still says its length; Hono would take
  // the body away first, and the length would be 0.
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (!METHODS_WITH_BODY.has(method)) return new Request(url, { method })
  const body = mayBeAbsent && request.body === null ? '{}' : await readJsonBody(request, time)
  return new Request(url, { method, body, headers: { 'content-type': 'application/json' } })
}

interface BodyRules {
  /** No body is as good as `{}`. */
  readonly mayBeAbsent: boolean
  readonly time: BodyTime
}

function nothingThere(): GatewayError {
  return new GatewayError('not_found', 'There is nothing at this address.')
}

function methodNotAllowed(methods: readonly string[]): GatewayError {
  const allow = methods.join(', ')
  return new GatewayError('method_not_allowed', `This address takes ${allow}.`, {
    headers: { allow },
  })
}

/** None on public routes: signing up is what makes a caller known. */
function changeOriginOf(
  { caller, requestId, clientAddress }: ControlPlaneBindings,
  keys: ControlPlaneDependencies['keys'],
): ChangeOrigin {
  return {
    actor: caller === undefined ? null : toChangeActor(caller.actor, keys),
    requestId,
    clientAddress: clientAddress ?? null,
  }
}

/** A change whose turn has come is made only where its author's key, or session, is there still. */
function rightOf(actor: Actor, keys: ControlPlaneDependencies['keys']): AssertMayStillAct {
  return async (transaction) => {
    if (actor.type === 'user') await assertSessionStays(transaction, actor.sessionId)
    else if (keys.nameOf(actor.keyId) === undefined)
      throw new GatewayError('unauthorized', 'The API key was deleted before this was done.')
  }
}

function toChangeActor(actor: Actor, keys: ControlPlaneDependencies['keys']): ChangeActor {
  return actor.type === 'key'
    ? { type: 'key', id: actor.keyId, name: keys.nameOf(actor.keyId) ?? null }
    : { type: 'user', id: actor.userId, name: actor.member.email }
}

// Reports each finished request to observers: by its route's template and who asked, never by
// what was asked for.

/** A request that was authenticated → as whom. */
const actors = new WeakMap<Request, KeyId>()

function noteActor(request: Request, caller: { readonly keyId: KeyId } | undefined): void {
  if (caller !== undefined) actors.set(request, caller.keyId)
}

/**
 * @returns a function that takes the answer's status and the app that has the address, if one has;
 * undefined when nobody watches
 */
function observeRequest(
  { onAnswered }: Pick<ControlPlaneDependencies, 'onAnswered'>,
  request: Request,
  requestId: string,
): ((status: number, app: ControlPlaneApp | undefined) => void) | undefined {
  if (onAnswered === undefined) return undefined
  const startedAt = performance.now()
  return (status, app) =>
    onAnswered({
      requestId,
      method: NAMED_METHODS.has(request.method) ? request.method : 'other',
      path: app === undefined ? null : templateOf(app, request),
      status,
      actor: actors.get(request) ?? null,
      durationMs: Math.round(performance.now() - startedAt),
    })
}

const NAMED_METHODS: ReadonlySet<string> = new Set(HTTP_METHODS)

function templateOf(app: ControlPlaneApp, request: Request): string | null {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const [matched] = app.router.match(method, app.getPath(request))
  return matched.at(-1)?.[0][1].path ?? null
}

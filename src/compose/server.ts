/**
 * The whole server on one screen: which path goes where, and the listener. It must not know what
 * the paths do.
 */
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { type CallId, createCallId } from '../core/ids.ts'
import type { Handle } from '../doors/bound-by-address.ts'
import { type AddressOf, clientAddressOf } from '../doors/client-address.ts'
import { type ConnectionLimits, Connections } from '../doors/connections.ts'
import type { HandleRoom } from '../doors/handle-room.ts'
import {
  type DataPlane,
  envelopeOf,
  findMisplaced,
  hasNoHost,
  pathOf,
  refuseRoute,
} from '../gateway/data-plane.ts'
import { refuse } from '../gateway/refuse.ts'
import { stopAccepting } from '../process/stop-accepting.ts'
import { CalmClock } from '../process/wait-until-calm.ts'

export interface Routes {
  readonly dataPlane: DataPlane
  readonly controlPlane: () => Promise<{
    handle(
      request: Request,
      requestId: CallId,
      clientAddress: string | undefined,
    ): Promise<Response>
  }>
  /** The header in which a trusted proxy puts the address of its client. */
  readonly clientAddressHeader: string | undefined
  /** Browsers reach it by https. */
  readonly isSecure: boolean
  /** Undefined: there is nothing at /metrics. */
  readonly metrics?: ((request: Request) => Promise<Response>) | undefined
  /** The pages under /dashboard. */
  readonly dashboard: (request: Request, path: string) => Promise<Response>
  readonly readiness: () => Promise<{ readonly isReady: boolean; readonly checks: object }>
  /** The process is about to end: /readyz says so, and everything else is served. */
  readonly isDraining: () => boolean
  readonly version: string
}

export function createRouter(
  routes: Routes,
): (request: Request, addressOf?: AddressOf) => Promise<Response> {
  return function route(request, addressOf) {
    const path = pathOf(request.url)
    if (!hasOneHost(request, path))
      return Promise.resolve(refuseRoute('invalid_request', envelopeOf(path), ONE_HOST))
    return routes.dataPlane.find(path)?.(request) ?? routeBrowser(request, path, addressOf)
  }

  /** Answers all that a browser may ask for. */
  async function routeBrowser(
    request: Request,
    path: string,
    addressOf?: AddressOf,
  ): Promise<Response> {
    const response = await routeOther(request, path, addressOf)
    if (routes.isSecure) response.headers.set('strict-transport-security', ONE_YEAR)
    return response
  }

  async function routeOther(
    request: Request,
    path: string,
    addressOf?: AddressOf,
  ): Promise<Response> {
    switch (path) {
      case '/healthz':
        return state(200, { status: 'ok', version: routes.version })
      case '/readyz': {
        const { isReady, checks } = await routes.readiness()
        if (routes.isDraining()) return state(503, { status: 'draining', checks })
        return state(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks })
      }
      case '/metrics':
        if (routes.metrics !== undefined) return await routes.metrics(request)
        break
      case '/':
        if (request.headers.get('accept')?.includes('text/html') === true) return toDashboard()
        return state(200, {
          name: 'Gatehouse',
          version: routes.version,
          dashboard: DASHBOARD_PATH,
          docs: '/docs',
          openapi: '/openapi.json',
        })
    }
    if (path === DASHBOARD_PATH || path.startsWith(`${DASHBOARD_PATH}/`)) {
      return await routes.dashboard(request, path.slice(DASHBOARD_PATH.length + 1))
    }
    const misplaced = findMisplaced(path)
    if (misplaced !== undefined) {
      const message = `${NOTHING_HERE} This endpoint is at ${misplaced.path}: ${CHECK_BASE}`
      return refuseRoute('not_found', misplaced.dialect.envelope, message)
    }
    const envelope = envelopeOf(path, request.headers)
    if (envelope !== 'flat') return refuseRoute('not_found', envelope, NOT_FOUND)
    const controlPlane = await routes.controlPlane()
    const address = clientAddressOf(request, routes.clientAddressHeader, addressOf)
    return await controlPlane.handle(request, createCallId(), address)
  }
}

/**
 * Of two, each program on the way may take another; the runtime joins them by a comma, and takes
 * one for the address.
 */
function hasOneHost({ headers, url }: Request, path: string): boolean {
  const host = headers.get('host')
  // Without a host there is no address: old clients (HTTP/1.0) may ask how it is, and nothing that
  // needs one.
  return hasNoHost(url) ? !host && STATE_PATHS.has(path) : host?.includes(',') !== true
}

const STATE_PATHS: ReadonlySet<string> = new Set(['/', '/healthz', '/readyz'])
const ONE_HOST = "Send one header 'host', with a host and nothing else in it."

/** Of this host alone: nothing is known of its neighbours (RFC 6797). */
const ONE_YEAR = 'max-age=31536000'

const DASHBOARD_PATH = '/dashboard'

/** People are led to the pages; programs that ask for the root learn what this is. */
function toDashboard(): Response {
  const headers = { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
  return new Response(null, { status: 302, headers })
}

const NOTHING_HERE = 'There is nothing at this address.'
const NOT_FOUND = `${NOTHING_HERE} Nothing is stored here, so there is nothing to retrieve either.`
const CHECK_BASE = 'check the base address that the client was given.'

function state(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
}

function refuseBroken(cause: unknown): Response {
  const error = new GatewayError('internal_error', 'The gateway failed to handle this request.', {
    cause,
  })
  return refuse(error, 'flat', {})
}

export interface Listener {
  /** `http://HOST:PORT` */
  readonly url: string
  /**
   * Still takes everything, and asks clients with each answer to come back on another connection.
   */
  beginDraining(): void
  /**
   * Takes no new connection, waits until open calls have ended and none follows on the connections
   * that are there, or until `timeoutMs` is over.
   * @returns whether all had ended
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Cuts what is left. */
  stop(): Promise<void>
}

export interface ListenOptions {
  readonly connections?: ConnectionLimits | undefined
  /** Absent: connections are kept however many there are. */
  readonly room?: Pick<HandleRoom, 'isCrowded'> | undefined
}

const USUAL: ConnectionLimits = { idleMs: 75_000, stallMs: 360_000 }
/** A body that did not come in time: the rest of it would be read as the next request. */
const REQUEST_TIMEOUT = 408
const DRAIN_POLL_MS = 20
/**
 * Nothing was asked for so long: what was sent before the last answer told its client to go has
 * arrived.
 */
const QUIET_MS = 200
/** Of a machine that is busy all the time no more is waited for. */
const MOST_QUIET_MS = 2_000

/**
 * @param address `isShared`: other workers listen there as well
 * @throws when the address is taken
 */
export function listen(
  address: { readonly host: string; readonly port: number; readonly isShared?: boolean },
  handle: Handle,
  { connections: limits = USUAL, room }: ListenOptions = {},
): Listener {
  let isDraining = false
  let lastRequestAt = 0
  const server = Bun.serve({
    hostname: address.host,
    port: address.port,
    development: false,
    // Said either way: of itself `development: false` lets a second server share the port, and each
    // gets some of the connections.
    reusePort: address.isShared === true,
    // Until a request has come; the runtime itself gives its head ten seconds.
    idleTimeout: Math.ceil(limits.idleMs / 1000),
    // Bodies are bounded where the answer can say so in the caller's own envelope.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request) {
      connections.begin(request)
      if (isDraining) lastRequestAt = performance.now()
      const send = (response: Response) => {
        if (isDraining || room?.isCrowded === true || response.status === REQUEST_TIMEOUT)
          response.headers.set('connection', 'close')
        connections.answered(request, response)
        return response
      }
      return handle(request, addressOf).then(send, (cause) => send(refuseBroken(cause)))
    },
    error: refuseBroken,
  })
  const connections = new Connections(server, limits, systemClock)
  // One function for all requests, and no closure for each.
  function addressOf(request: Request): string | undefined {
    return server.requestIP(request)?.address
  }
  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${server.port}`,
    beginDraining() {
      isDraining = true
    },
    async drain(timeoutMs) {
      isDraining = true
      const until = performance.now() + timeoutMs
      if (await stopAccepting(server.port ?? 0)) {
        lastRequestAt = performance.now()
        const calm = new CalmClock()
        const isQuiet = () => {
          const quietMs = performance.now() - lastRequestAt
          const isCalm = Math.min(quietMs, calm.calmForMs()) >= Math.min(QUIET_MS, timeoutMs)
          return server.pendingRequests === 0 && (isCalm || quietMs >= MOST_QUIET_MS)
        }
        while (!isQuiet() && performance.now() < until) await calm.tick()
      }
      // Closes the connections that are between two requests.
      void server.stop()
      while (server.pendingRequests > 0 && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS)
      return server.pendingRequests === 0
    },
    stop: () => server.stop(true),
  }
}

/** The whole server on one screen: which path goes where, and the listener. It must not know what the paths do. */
import { GatewayError } from './core/errors.ts'
import { type CallId, createCallId } from './core/ids.ts'
import { type DataPlane, envelopeOf, refuseRoute } from './gateway/data-plane.ts'
import { refuse } from './gateway/refuse.ts'
import { stopAccepting } from './stop-accepting.ts'

export interface Routes {
  readonly dataPlane: DataPlane
  readonly controlPlane: () => Promise<{
    handle(request: Request, requestId: CallId, clientAddress: string | undefined): Promise<Response>
  }>
  /** Where a proxy that is trusted puts the address of its client. */
  readonly clientAddressHeader: string | undefined
  /** Undefined: there is nothing at /metrics. */
  readonly metrics?: ((request: Request) => Promise<Response>) | undefined
  /** The pages under /dashboard. */
  readonly dashboard: (request: Request, path: string) => Promise<Response>
  readonly readiness: () => Promise<{ readonly isReady: boolean; readonly checks: object }>
  /** The process was told to end: whoever asks whether it is ready is told so, and everything else is served. */
  readonly isDraining: () => boolean
  readonly version: string
}

/** The address that a request came from, looked up only where it is needed. */
export type AddressOf = (request: Request) => string | undefined

export function createRouter(routes: Routes): (request: Request, addressOf?: AddressOf) => Promise<Response> {
  return function route(request, addressOf) {
    const path = pathOf(request.url)
    return routes.dataPlane.find(path)?.(request) ?? routeOther(request, path, addressOf)
  }

  async function routeOther(request: Request, path: string, addressOf?: AddressOf): Promise<Response> {
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
    const envelope = envelopeOf(path, request.headers)
    if (envelope !== 'flat') return refuseRoute('not_found', envelope, NOT_FOUND)
    const controlPlane = await routes.controlPlane()
    return await controlPlane.handle(request, createCallId(), clientAddress(request, addressOf))
  }

  /** Proxies append: the last address is the one that the proxy next to us saw. */
  function clientAddress(request: Request, addressOf: AddressOf | undefined): string | undefined {
    const { clientAddressHeader } = routes
    const told = clientAddressHeader === undefined ? null : request.headers.get(clientAddressHeader)
    return told?.split(',').at(-1)?.trim() || addressOf?.(request)
  }
}

const DASHBOARD_PATH = '/dashboard'

/** People are led to the pages; programs that ask for the root are told what this is. */
function toDashboard(): Response {
  const headers = { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
  return new Response(null, { status: 302, headers })
}

const NOT_FOUND =
  'There is nothing at this address. Nothing is stored here, so there is nothing to retrieve either.'

/** `request.url` is always absolute; parsing it whole would cost more than the rest of the routing. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  return query < 0 ? url.slice(start) : url.slice(start, query)
}

function state(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
}

export interface Listener {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Still takes everything, and asks clients with each answer to come back on another connection. */
  beginDraining(): void
  /**
   * Takes no new connection, waits until open calls have ended and none follows on the connections that are there, or until
   * `timeoutMs` is over. @returns whether all had ended
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Cuts what is left. */
  stop(): Promise<void>
}

/** An idle connection between two requests, or one that never finishes its headers, is closed after this long. */
const IDLE_SECONDS = 75
const DRAIN_POLL_MS = 20
/** Nothing was asked for so long: what was sent before the last answer told its client to go has arrived. */
const QUIET_MS = 200

/** @param address `isShared`: other workers listen there as well @throws when the address is taken */
export function listen(
  address: { readonly host: string; readonly port: number; readonly isShared?: boolean },
  handle: (request: Request, addressOf: AddressOf) => Promise<Response>,
): Listener {
  let isDraining = false
  let lastRequestAt = 0
  const server = Bun.serve({
    hostname: address.host,
    port: address.port,
    development: false,
    // Said either way: of itself `development: false` lets a second server share the port, and each gets some of the connections.
    reusePort: address.isShared === true,
    idleTimeout: IDLE_SECONDS,
    // Bodies are bounded where the answer can say so in the caller's own envelope.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request, listener) {
      // From here on the gateway's own deadlines count: a model may think for minutes.
      listener.timeout(request, 0)
      if (isDraining) lastRequestAt = performance.now()
      const response = await handle(request, addressOf)
      if (isDraining) response.headers.set('connection', 'close')
      return response
    },
    error(cause) {
      return refuse(
        new GatewayError('internal_error', 'The gateway failed to handle this request.', { cause }),
        'flat',
        {},
      )
    },
  })
  // One for all requests: nothing is made for each.
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
        const isQuiet = () =>
          server.pendingRequests === 0 && performance.now() - lastRequestAt >= Math.min(QUIET_MS, timeoutMs)
        while (!isQuiet() && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS)
      }
      // Closes the connections that are between two requests.
      void server.stop()
      while (server.pendingRequests > 0 && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS)
      return server.pendingRequests === 0
    },
    stop: () => server.stop(true),
  }
}

import { STATE_PATHS } from '../core/http.ts'
import { type CallId, createCallId } from '../core/ids.ts'
import {
  type DataPlane,
  envelopeOf,
  findMisplaced,
  hasNoHost,
  pathOf,
  refuseRoute,
} from '../gateway/data-plane.ts'
import { type AddressOf, clientAddressOf } from '../net/client-address.ts'
import { type Answer, type HttpRequest, toRequest } from '../net/messages.ts'

export interface Routes {
  readonly dataPlane: DataPlane
  readonly controlPlane: () => Promise<{
    handle(
      request: Request,
      requestId: CallId,
      clientAddress: string | undefined,
    ): Promise<Response>
  }>
  readonly clientAddressHeader: string | undefined
  readonly isSecure: boolean
  readonly metrics?: ((request: Request) => Promise<Response>) | undefined
  readonly dashboard: (request: Request, path: string) => Promise<Response>
  readonly readiness: () => Promise<{ readonly isReady: boolean; readonly checks: object }>
  readonly isDraining: () => boolean
  readonly version: string
}

export function createRouter(
  routes: Routes,
): (request: HttpRequest, addressOf?: AddressOf) => Promise<Answer> {
  return function route(request, addressOf) {
    const path = pathOf(request.url)
    if (!hasOneHost(request, path))
      return Promise.resolve(refuseRoute('invalid_request', envelopeOf(path), ONE_HOST))
    const handle = routes.dataPlane.find(path)
    return handle === undefined
      ? routeBrowser(request, path, addressOf)
      : handle(request, () => clientAddressOf(request, routes.clientAddressHeader, addressOf))
  }

  async function routeBrowser(
    request: HttpRequest,
    path: string,
    addressOf?: AddressOf,
  ): Promise<Response> {
    const response = await routeOther(request, path, addressOf)
    if (routes.isSecure) response.headers.set('strict-transport-security', ONE_YEAR)
    return response
  }

  async function routeOther(
    request: HttpRequest,
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
        if (routes.metrics !== undefined) return await routes.metrics(toRequest(request))
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
      return await routes.dashboard(toRequest(request), path.slice(DASHBOARD_PATH.length + 1))
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
    return await controlPlane.handle(toRequest(request), createCallId(), address)
  }
}

/**
 * Intermediaries may disagree about a request with two hosts; the runtime joins the hosts with a
 * comma and uses one for the address.
 */
function hasOneHost({ headers, url }: HttpRequest, path: string): boolean {
  const host = headers.get('host')
  // A request without a host has no address: old clients (HTTP/1.0) may only request the state
  // paths.
  return hasNoHost(url)
    ? !host && STATE_PATHS.some((known) => known === path)
    : host?.includes(',') !== true
}

const ONE_HOST = "Send exactly one 'host' header that contains only a host."

/** This host only, because its subdomains are unknown (RFC 6797). */
const ONE_YEAR = 'max-age=31536000'

const DASHBOARD_PATH = '/dashboard'

function toDashboard(): Response {
  const headers = { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
  return new Response(null, { status: 302, headers })
}

const NOTHING_HERE = 'There is nothing at this address.'
const NOT_FOUND =
  `${NOTHING_HERE} This endpoint is not supported, and the gateway stores no responses, files or ` +
  'batches: /docs lists all endpoints.'
const CHECK_BASE = 'check the base address that the client was given.'

function state(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
}

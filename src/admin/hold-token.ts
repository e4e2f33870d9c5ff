/**
 * Holds access tokens to the few routes of the control plane that they reach. The one table of these
 * routes: whatever it does not name is refused.
 */
import { getPath } from 'hono/utils/url'
import { GatewayError } from '../core/errors.ts'
import { onlyCalls } from './control-plane-app.ts'
import type { Middleware } from './middlewares.ts'

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

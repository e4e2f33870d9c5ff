import { getPath } from 'hono/utils/url'
import { GatewayError } from '../core/errors.ts'
import { onlyCalls } from './control-plane-app.ts'
import type { Middleware } from './middlewares.ts'

/** The routes that an access token reaches: its identity, and its own usage. */
const TOKEN_ROUTES: ReadonlyMap<string, 'itself' | 'usage'> = new Map([
  ['GET /v1/session', 'itself'],
  ['GET /v1/analytics', 'usage'],
  ['GET /v1/analytics/latency', 'usage'],
])

export const holdToken: Middleware = async (context, next) => {
  const { caller, request } = context
  if (caller?.token === undefined) return await next()
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const kind = TOKEN_ROUTES.get(`${method} ${getPath(request)}`)
  if (kind === undefined) throw onlyCalls()
  if (kind === 'usage') context.request = ofKey(request, caller.keyId)
  return await next()
}

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

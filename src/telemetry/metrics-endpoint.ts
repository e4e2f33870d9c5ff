/** Answers readers of the metrics who may read them. Must not know where it listens. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { createCallId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { refuse } from '../gateway/refuse.ts'

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createMetricsEndpoint(
  token: Secret | undefined,
  render: () => Promise<string>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (new URL(request.url).pathname !== '/metrics')
      return refuseReader('not_found', 'The metrics are at /metrics.')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuseReader('method_not_allowed', 'This address takes GET, HEAD.', {
        allow: 'GET, HEAD',
      })
    if (token !== undefined && !isToken(request.headers.get('authorization'), token))
      return refuseReader(
        'unauthorized',
        'The metrics need their own token (GATEHOUSE_METRICS_TOKEN).',
        {
          'www-authenticate': 'Bearer',
        },
      )
    return new Response(await render(), {
      headers: { 'content-type': CONTENT_TYPE, 'cache-control': 'no-store' },
    })
  }
}

/** The main port's answer at /metrics where the metrics have a port of their own. */
export function tellMetricsPort(): Promise<Response> {
  return Promise.resolve(
    refuseReader('not_found', 'The metrics are on a port of their own (GATEHOUSE_METRICS_PORT).'),
  )
}

function refuseReader(
  kind: 'not_found' | 'method_not_allowed' | 'unauthorized',
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return refuse(new GatewayError(kind, message, { headers }), 'flat', {
    'x-request-id': createCallId(),
  })
}

/** Hashes are compared, so that the time tells nothing, not even the length. */
function isToken(header: string | null, token: Secret): boolean {
  const presented = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  return presented !== undefined && timingSafeEqual(hash(presented), hash(token.reveal()))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

import { GatewayError } from '../core/errors.ts'

export const SAME_ORIGIN_HEADER = 'x-gatehouse-csrf'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * Refuses requests that another site makes a browser send with the user's cookie. `Origin`, which
 * pages cannot set, must be the gateway's own, and a header must be present that pages of other
 * origins can send only after a preflight, which is never granted.
 * Sources: Fetch Standard (Origin, CORS-safelisted headers), OWASP CSRF Prevention Cheat Sheet.
 * @param publicOrigin where browsers reach the gateway; undefined for the address in this request
 * @throws GatewayError `forbidden`
 */
export function assertSameOrigin(
  request: Pick<Request, 'method' | 'url' | 'headers'>,
  publicOrigin: string | undefined,
): void {
  if (SAFE_METHODS.has(request.method)) return
  const own = publicOrigin ?? new URL(request.url).origin
  const origin = request.headers.get('origin')
  if (origin !== own) {
    const cure = publicOrigin === undefined ? ' Behind a proxy, set GATEHOUSE_PUBLIC_URL.' : ''
    throw new GatewayError(
      'forbidden',
      `With a session, the header 'origin' must be the gateway's own address (${own}).${cure}`,
    )
  }
  if (!request.headers.get(SAME_ORIGIN_HEADER)) {
    throw new GatewayError(
      'forbidden',
      `With a session, the header '${SAME_ORIGIN_HEADER}: 1' is required.`,
    )
  }
}

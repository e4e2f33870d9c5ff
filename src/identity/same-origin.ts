/**
 * Refuses what another site makes a browser send along with the user's cookie (cross-site request
 * forgery). Two conditions, each of which would do: `Origin`, which pages cannot set, is the
 * gateway's own; and a header is there that a page of another origin can only send after a
 * preflight, which is never granted. No token has to be handed out, kept or leaked, and signing in
 * is protected as well, where there is no session to tie a token to. `SameSite=Lax` is the third
 * wall. Sources: Fetch Standard (Origin, CORS-safelisted headers), OWASP CSRF Prevention Cheat
 * Sheet (custom request headers).
 */
import { GatewayError } from '../core/errors.ts'

export const SAME_ORIGIN_HEADER = 'x-gatehouse-csrf'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * @param publicOrigin where browsers reach the gateway; undefined: where this request says that it
 * was sent to
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

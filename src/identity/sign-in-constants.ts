/**
 * Names that the parts of sign-in share, apart from the library so that it need not be loaded to
 * know it.
 */

export const AUTH_PATH = '/v1/auth'
export const OIDC_PROVIDER = 'oidc'
/**
 * A member of what a sign-in by OpenID Connect remembers while the browser is away: the hash of an
 * invitation's token.
 */
export const INVITATION_MEMBER = 'gatehouseInvitation'
export const COOKIE_PREFIX = 'gatehouse'
/**
 * In front of every cookie's name where browsers use https: they take such a name from this very
 * host alone, and not from a neighbour under the same domain (RFC 6265bis §4.1.3.2).
 */
export const HOST_PREFIX = '__Host-'
/** better-auth's name of it. */
export const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token`

/** Set by us alone, on the headers that the library gets to see. */
export const CLIENT_ADDRESS_HEADER = 'x-gatehouse-client-address'

/** A week from signing in, whether used or not. */
export const SESSION_SECONDS = 7 * 24 * 3600

/**
 * NIST SP 800-63B-4 asks for 15 where the password is all there is, and for 8 at the least; a long
 * upper bound for passphrases.
 */
export const PASSWORD_LENGTH = { min: 12, max: 128 }

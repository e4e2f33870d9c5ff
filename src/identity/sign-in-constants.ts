/**
 * Names shared by the parts of sign-in, separate from the library so that importing a name does not
 * load the library.
 */

export const AUTH_PATH = '/v1/auth'
export const OIDC_PROVIDER = 'oidc'
/** A member of the OpenID Connect sign-in state: the hash of an invitation's token. */
export const INVITATION_MEMBER = 'gatehouseInvitation'
export const COOKIE_PREFIX = 'gatehouse'
/**
 * Prefix of every cookie's name when browsers use https: browsers accept such a name only from
 * exactly this host, not from another host under the same domain (RFC 6265bis §4.1.3.2).
 */
export const HOST_PREFIX = '__Host-'
export const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token`

/** Set only by the gateway, on the headers passed to the library. */
export const CLIENT_ADDRESS_HEADER = 'x-gatehouse-client-address'

/** A session ends a week after signing in, used or not. */
export const SESSION_SECONDS = 7 * 24 * 3600

/**
 * NIST SP 800-63B-4 requires 15 when the password is the only factor, and at least 8; a high
 * maximum for passphrases.
 */
export const PASSWORD_LENGTH = { min: 12, max: 128 }

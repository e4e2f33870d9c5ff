/** Stage 1, authenticate: finds the caller from the header alone, before the body is read. */

import { isAccessToken, looksLikeAccessToken } from '../core/access-token.ts'
import { hashApiKey, isLegacyKey, isNewKey } from '../core/api-key.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { stoppedError } from '../core/stop.ts'
import type { HeaderFields } from '../net/fields.ts'
import { assertAddress } from './access-token.ts'
import type { Caller, Freshness, KeyStore } from './ports.ts'

const BEARER = /^Bearer +(\S+) *$/i

export interface AuthenticatePorts {
  readonly keys: KeyStore
  readonly clock: Clock
  readonly freshness?: Freshness | undefined
}

/**
 * Returns undefined when this node's keys are up to date.
 * @throws GatewayError `unavailable` (rejects)
 */
export function whenFresh({
  freshness,
}: Pick<AuthenticatePorts, 'freshness'>): Promise<void> | undefined {
  return freshness === undefined || freshness.isFresh() ? undefined : freshness.refresh()
}

export type ClientAddress = () => string | undefined

/**
 * Hashes the key before the lookup. No answer repeats the key.
 * @param addressOf undefined: the address is unknown
 * @param keyHeader the dialect's own header for the key, if any
 * @throws GatewayError `unauthorized`; `unavailable` when the key cannot be checked; `forbidden`
 * when an access token is stopped, or used from an address that it does not allow
 */
export function authenticate(
  ports: AuthenticatePorts,
  headers: HeaderFields,
  addressOf: ClientAddress | undefined,
  keyHeader?: string,
): Caller {
  const key = readKey(headers, keyHeader)
  const hasOurForm = isNewKey(key) || isAccessToken(key) || isLegacyKey(key)
  const caller = hasOurForm ? ports.keys.find(hashApiKey(key)) : undefined
  ports.freshness?.assertKnown(caller?.accountId)
  if (caller === undefined) throw unauthorized(describeRefusal(key, hasOurForm))
  if (caller.stop !== undefined) throw stoppedError(caller.stop)
  if (caller.token !== undefined) assertAddress(caller.token, addressOf)
  ports.keys.touch(caller.keyId, ports.clock.now())
  return caller
}

function readKey(headers: HeaderFields, keyHeader: string | undefined): string {
  const header = headers.get('authorization')
  if (header === null) {
    const own = keyHeader === undefined ? null : headers.get(keyHeader)
    if (own !== null) return own.trim()
    throw unauthorized('Missing API key: send it in the header `Authorization: Bearer <API_KEY>`.')
  }
  const key = BEARER.exec(header)?.[1]
  if (key === undefined) {
    throw unauthorized('Malformed Authorization header: it must read `Bearer <API_KEY>`.')
  }
  return key
}

const INVALID = 'Invalid API key.'
const FOREIGN =
  `${INVALID} It does not have the form of this gateway's keys: a provider's own key is not accepted ` +
  'here.'

const INVALID_TOKEN =
  'Invalid access token: the token is unknown to this gateway, was deleted or replaced, or has expired.'
const MALFORMED_TOKEN =
  'Invalid access token: tokens have the form `at-svc-` and 64 hexadecimal characters in lower case. ' +
  'Was the whole token copied?'

function describeRefusal(key: string, hasOurForm: boolean): string {
  if (looksLikeAccessToken(key)) return hasOurForm ? INVALID_TOKEN : MALFORMED_TOKEN
  return hasOurForm ? INVALID : FOREIGN
}

function unauthorized(message: string): GatewayError {
  return new GatewayError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
}

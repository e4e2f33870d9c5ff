/**
 * The address and the key of a gateway, as a program that asks it is given them. Must not know how
 * it is asked.
 */
import { withoutTrailingSlashes } from './without-trailing-slashes.ts'

export interface GatewayAddress {
  readonly url: URL
  /** Paths of the interface go behind it. */
  readonly base: string
}

/** The form of such an address, in words that follow "must be". */
export const GATEWAY_ADDRESS_FORM =
  'an http or https address without credentials, query or fragment'

/**
 * SDKs are given the address with `/v1`; here it is the same gateway.
 * @returns undefined where it does not have the form; it may hold a password then
 */
export function parseGatewayAddress(given: string): GatewayAddress | undefined {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  if (`${url.username}${url.search}${url.hash}` !== '') return undefined
  return { url, base: withoutVersion(url.href) }
}

function withoutVersion(address: string): string {
  const base = withoutTrailingSlashes(address)
  return base.endsWith('/v1') ? withoutTrailingSlashes(base.slice(0, -'/v1'.length)) : base
}

/** @returns why no gateway has the key, or undefined; nothing of the key is in it */
export function describeUnusableKey(key: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(key)) return undefined
  return (
    'holds characters that are in no key: is there a space, the end of a line ' +
    "or 'Bearer' in it?"
  )
}

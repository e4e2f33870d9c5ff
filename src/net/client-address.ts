/** Determines the client's address of a request. */
import type { HttpRequest } from './messages.ts'

export type AddressOf = (request: HttpRequest) => string | undefined

/**
 * Proxies append to the header, so the last address is what the nearest proxy saw.
 * @param header undefined: no proxy is trusted to set the header
 */
export function clientAddressOf(
  request: HttpRequest,
  header: string | undefined,
  addressOf: AddressOf | undefined,
): string | undefined {
  const forwarded = header === undefined ? null : request.headers.get(header)
  return withoutPort(forwarded?.split(',').at(-1)?.trim() ?? '') || addressOf?.(request)
}

/**
 * Some proxies append the port, which would make each connection another client
 * (https://learn.microsoft.com/azure/application-gateway/how-application-gateway-works).
 */
function withoutPort(address: string): string {
  const [, inBrackets, before] = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*):\d*)$/.exec(address) ?? []
  return inBrackets ?? before ?? address
}

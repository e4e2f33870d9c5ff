/**
 * The client that a request is from, as far as it can be told. It must not know what that is for.
 */
import type { HttpRequest } from './messages.ts'

/** The address at the other end of a request's connection; looked up only where it is needed. */
export type AddressOf = (request: HttpRequest) => string | undefined

/**
 * Proxies append: the last address is the one that the proxy next to us saw.
 * @param header undefined: no proxy is trusted to say it
 */
export function clientAddressOf(
  request: HttpRequest,
  header: string | undefined,
  addressOf: AddressOf | undefined,
): string | undefined {
  const told = header === undefined ? null : request.headers.get(header)
  return withoutPort(told?.split(',').at(-1)?.trim() ?? '') || addressOf?.(request)
}

/**
 * Some proxies append it
 * (https://learn.microsoft.com/azure/application-gateway/how-application-gateway-works):
 * whoever opens another connection would be another client.
 */
function withoutPort(address: string): string {
  const [, inBrackets, before] = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*):\d*)$/.exec(address) ?? []
  return inBrackets ?? before ?? address
}

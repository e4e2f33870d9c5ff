/** Determines the client's address of a request. Must not know what it is used for. */
import type { HttpRequest } from './messages.ts'

/** The peer address of a request's connection, looked up only when it is needed. */
export type AddressOf = (request: HttpRequest) => string | undefined

/**
 * Proxies append to the header, so the last address is the one that the nearest proxy saw.
 * @param header undefined: no proxy is trusted to set it
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
 * Some proxies append the port
 * (https://learn.microsoft.com/azure/application-gateway/how-application-gateway-works). With it,
 * each connection would count as another client.
 */
function withoutPort(address: string): string {
  const [, inBrackets, before] = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*):\d*)$/.exec(address) ?? []
  return inBrackets ?? before ?? address
}

/** HTTP rules that several rooms share: methods, addresses, content types, bodies. */

/** RFC 9110 §9.1: methods are case-sensitive. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export const RETRY_HEADERS = ['retry-after', 'retry-after-ms', 'x-should-retry'] as const

/** Paths that machines request every few seconds. */
export const STATE_PATHS = ['/', '/healthz', '/readyz'] as const

/**
 * Longer than any real content type. Senders choose the length, so no regular expression parses the
 * header.
 */
const LONGEST_TYPE = 256
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8', '"utf-8"', '"utf8"'])

/**
 * Accepts `application/json` and `application/….+json`. JSON is UTF-8 (RFC 8259 §8.1), so other
 * charsets are refused.
 */
export function isJsonContentType(header: string): boolean {
  if (header === 'application/json') return true
  if (header.length > LONGEST_TYPE) return false
  const [type = '', ...parameters] = header.toLowerCase().split(';')
  const said = parameters
    .map((parameter) => parameter.trim())
    .filter((parameter) => parameter !== '')
  return isJsonType(type.trim()) && said.length <= 1 && said.every(isUtf8)
}

function isJsonType(type: string): boolean {
  if (type === 'application/json') return true
  if (!type.startsWith('application/') || !type.endsWith('+json')) return false
  const name = type.slice('application/'.length, -'+json'.length)
  return name !== '' && !NOT_IN_NAMES.test(name)
}

const NOT_IN_NAMES = /[^\w.-]/

function isUtf8(parameter: string): boolean {
  const [name = '', value = '', ...rest] = parameter.split('=')
  return name.trim() === 'charset' && rest.length === 0 && UTF8_NAMES.has(value.trim())
}

export function isHttps(origin: string | undefined): boolean {
  return origin?.startsWith('https:') === true
}

/** An IPv6 customer has at least a /64, so all addresses of the /64 count as one. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}

/** A regular expression would be quadratic for a long row of slashes. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length
  while (end > 0 && address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** @returns undefined when there is more than `maxBytes`; the rest is not read */
export async function readAtMost(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.byteLength
    if (length > maxBytes) return undefined
    read.push(piece)
  }
  return Buffer.concat(read)
}

export interface GatewayAddress {
  readonly url: URL
  readonly base: string
}

export const GATEWAY_ADDRESS_FORM =
  'an http or https address without credentials, query or fragment'

/**
 * Removes the `/v1` that SDKs need in the address.
 * @returns undefined when the form is wrong; the address may then contain a password
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

/** @returns why the key is unusable, without any part of the key; undefined: usable */
export function describeUnusableKey(key: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(key)) return undefined
  return (
    'contains characters that no key has, such as a space, a line break ' + "or the word 'Bearer'"
  )
}

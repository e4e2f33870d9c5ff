/** Rules of HTTP that several rooms share: methods, addresses, content types, bodies. */

/** Methods that are answered; others are refused (RFC 9110 §9.1: case matters). */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Headers that tell a client when to try again. */
export const RETRY_HEADERS = ['retry-after', 'retry-after-ms', 'x-should-retry'] as const

/** Paths that machines ask for every few seconds. */
export const STATE_PATHS = ['/', '/healthz', '/readyz'] as const

/**
 * Longer than any content type that a client sends. No regular expression reads the header: senders
 * choose its length.
 */
const LONGEST_TYPE = 256
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8', '"utf-8"', '"utf8"'])

/**
 * `application/json` or `application/….+json`; JSON is UTF-8 (RFC 8259 §8.1), so that another
 * charset is refused.
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

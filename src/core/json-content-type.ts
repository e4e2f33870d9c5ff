/**
 * Says whether a `content-type` names JSON in UTF-8. It must not know whose header it is, and uses
 * no regular expression: a header is as long and as strange as its sender likes.
 */

/** Longer than any that a client sends; the rest is not looked at. */
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

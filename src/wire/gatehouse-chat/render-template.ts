/** Fills in the variables of a caller's instructions. Values are not expanded again. */
import { GatewayError, invalidRequest } from '../../core/errors.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `{{`, a name of at most 64 characters with some space around it, `}}`. */
const LONGEST_NAME = 80

/** Larger than any real template; each place costs memory before the result is built. */
const MAX_PLACES = 10_000

/**
 * Replaces each `{{name}}`. Variables may be long and used often, so the resulting length is
 * computed first.
 * @param maxBytes limit of the result
 * @throws GatewayError `invalid_request` naming `vars.<name>` when `vars` lacks the name;
 * `payload_too_large`
 */
export function renderTemplate(
  text: string,
  vars: Readonly<Record<string, string>>,
  maxBytes: number,
): string {
  const places = findPlaces(text, vars)
  const sizes = new Map(
    Object.entries(vars).map(([name, value]) => [name, Buffer.byteLength(value)]),
  )
  let bytes = Buffer.byteLength(text)
  // Names are ASCII, so bytes and characters are the same number.
  for (const { start, end, name } of places) bytes += (sizes.get(name) ?? 0) - (end - start)
  if (bytes > maxBytes)
    throw new GatewayError(
      'payload_too_large',
      `'instructions' is larger than ${maxBytes} bytes after its variables are filled in.`,
      { param: 'instructions' },
    )
  const parts: string[] = []
  let copied = 0
  for (const { start, end, name } of places) {
    parts.push(text.slice(copied, start), vars[name] ?? '')
    copied = end
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

interface Place {
  readonly start: number
  readonly end: number
  readonly name: string
}

function findPlaces(text: string, vars: Readonly<Record<string, string>>): Place[] {
  const places: Place[] = []
  let open = text.indexOf('{{')
  while (open >= 0) {
    const close = text.indexOf('}}', open + 2)
    if (close < 0) break
    // Of more than two braces the innermost count.
    const start = text.lastIndexOf('{{', close)
    const name = close - start <= LONGEST_NAME ? text.slice(start + 2, close).trim() : ''
    if (NAME.test(name)) {
      assertGiven(name, vars)
      if (places.length === MAX_PLACES)
        throw invalidRequest(
          `'instructions' has more than ${MAX_PLACES} variables.`,
          'instructions',
        )
      places.push({ start, end: close + 2, name })
    }
    open = text.indexOf('{{', close + 2)
  }
  return places
}

function assertGiven(name: string, vars: Readonly<Record<string, string>>): void {
  if (Object.hasOwn(vars, name)) return
  throw invalidRequest(
    `'instructions' contains {{${name}}}, but 'vars.${name}' is missing.`,
    `vars.${name}`,
    'missing_required_parameter',
  )
}

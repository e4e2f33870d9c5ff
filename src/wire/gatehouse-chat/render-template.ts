/** Fills the variables of a caller's instructions in. Pure: no code in them, and what is filled in is not looked at again. */
import { invalidRequest } from '../../core/errors.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `{{`, a name of at most 64 characters with some space around it, `}}`. */
const LONGEST_NAME = 80

/**
 * Replaces each `{{name}}`; braces around anything that is no name stay as they are.
 * @throws GatewayError `invalid_request` naming `vars.<name>` when it is not among `vars`
 */
export function renderTemplate(text: string, vars: Readonly<Record<string, string>>): string {
  let rendered = ''
  let copied = 0
  let open = text.indexOf('{{')
  while (open >= 0) {
    const close = text.indexOf('}}', open + 2)
    if (close < 0) break
    // Of more than two braces the innermost count.
    const start = text.lastIndexOf('{{', close)
    const name = close - start <= LONGEST_NAME ? text.slice(start + 2, close).trim() : ''
    if (NAME.test(name)) {
      rendered += text.slice(copied, start) + lookUp(name, vars)
      copied = close + 2
    }
    open = text.indexOf('{{', close + 2)
  }
  return rendered + text.slice(copied)
}

function lookUp(name: string, vars: Readonly<Record<string, string>>): string {
  const value = Object.hasOwn(vars, name) ? vars[name] : undefined
  if (value !== undefined) return value
  throw invalidRequest(
    `'instructions' holds {{${name}}}, and 'vars.${name}' is not given.`,
    `vars.${name}`,
    'missing_required_parameter',
  )
}

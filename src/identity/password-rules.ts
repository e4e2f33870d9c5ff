/**
 * The rules of passwords. Length does the work; the rest refuses what a guesser tries first. Knows
 * no user.
 */
import { PASSWORD_LENGTH } from './sign-in-constants.ts'

const LEAST_DISTINCT_CHARACTERS = 5

/**
 * @returns what is wrong with it, to follow the field's name, or undefined. Lengths are in UTF-16
 * units.
 */
export function describeWeakPassword(password: string, email: string): string | undefined {
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max) return `must have ${min} to ${max} characters`
  if (new Set(password).size < LEAST_DISTINCT_CHARACTERS)
    return `must have at least ${LEAST_DISTINCT_CHARACTERS} different characters`
  const lower = password.toLowerCase()
  const name = email.slice(0, email.indexOf('@'))
  if (lower.includes(email) || (name.length >= 4 && lower.includes(name)))
    return 'must not hold the email address'
  if (isSequence(lower)) return 'must not be a row of neighbouring characters'
  return undefined
}

/**
 * `abcdefghijkl`, `123456789012`: each character follows the one before, or the row begins anew.
 */
function isSequence(text: string): boolean {
  let breaks = 0
  for (let index = 1; index < text.length; index += 1) {
    if (Math.abs(text.charCodeAt(index) - text.charCodeAt(index - 1)) > 1) breaks += 1
  }
  return breaks <= 1
}

import { GatewayError } from '../core/errors.ts'
import { PASSWORD_LENGTH } from './sign-in-constants.ts'

export class PasswordHashes {
  readonly #work: PasswordWork
  readonly #fresh = new Map<string, string>()

  constructor(work: PasswordWork) {
    this.#work = work
  }

  async hash(password: string): Promise<string> {
    const { hashPassword } = await import('better-auth/crypto')
    return await this.#work.run(() => hashPassword(password))
  }

  /**
   * Runs `use`, which verifies the password against the hash just created from the password.
   * Hashing twice would prove nothing, takes as long again, and could be refused by the limit after
   * the user was created.
   */
  async whileFresh<T>(hash: string, password: string, use: () => Promise<T>): Promise<T> {
    this.#fresh.set(hash, password)
    try {
      return await use()
    } finally {
      this.#fresh.delete(hash)
    }
  }

  async verify(given: { readonly hash: string; readonly password: string }): Promise<boolean> {
    // Hashes are salted, so an equal hash means the same password.
    if (this.#fresh.get(given.hash) === given.password) return true
    const { verifyPassword } = await import('better-auth/crypto')
    return await this.#work.run(() => verifyPassword(given))
  }
}

const LEAST_DISTINCT_CHARACTERS = 5

/** @returns the problem, to follow the field's name, or undefined. Lengths are in UTF-16 units. */
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

function isSequence(text: string): boolean {
  let breaks = 0
  for (let index = 1; index < text.length; index += 1) {
    if (Math.abs(text.charCodeAt(index) - text.charCodeAt(index - 1)) > 1) breaks += 1
  }
  return breaks <= 1
}

const AT_ONCE = 2
const MOST_WAITING = 64

/** Limits concurrent password hashing, which takes 32 MB and a core for a while. */
export class PasswordWork {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /**
   * Runs `work` when a slot is free.
   * @throws GatewayError `rate_limited` when too many are waiting
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MOST_WAITING) {
        throw new GatewayError(
          'rate_limited',
          'Too many people are signing in at the moment. Try again.',
          {
            headers: { 'retry-after': '5' },
          },
        )
      }
      // The ending work passes its slot on directly, so that no other caller takes the slot in
      // between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

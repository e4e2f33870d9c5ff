/**
 * Makes the hashes by which passwords are known, and compares with them. Knows no password rules,
 * and not where hashes are kept.
 */
import type { PasswordWork } from './password-work.ts'

export class PasswordHashes {
  readonly #work: PasswordWork
  /** The password of each hash that was just made from it. */
  readonly #fresh = new Map<string, string>()

  constructor(work: PasswordWork) {
    this.#work = work
  }

  /** @throws GatewayError `rate_limited` */
  async hash(password: string): Promise<string> {
    const { hashPassword } = await import('better-auth/crypto')
    return await this.#work.run(() => hashPassword(password))
  }

  /**
   * Runs `use`, which proves the password against the hash that was just made from it: a second
   * hashing would show nothing, takes as long as the first, and could be refused for want of room
   * when the user is there already.
   */
  async whileFresh<T>(hash: string, password: string, use: () => Promise<T>): Promise<T> {
    this.#fresh.set(hash, password)
    try {
      return await use()
    } finally {
      this.#fresh.delete(hash)
    }
  }

  /** @throws GatewayError `rate_limited` */
  async verify(given: { readonly hash: string; readonly password: string }): Promise<boolean> {
    // Salted: no other user's hash, and none of an older password, is the same.
    if (this.#fresh.get(given.hash) === given.password) return true
    const { verifyPassword } = await import('better-auth/crypto')
    return await this.#work.run(() => verifyPassword(given))
  }
}

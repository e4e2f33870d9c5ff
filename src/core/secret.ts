/**
 * A credential that cannot be printed, serialised or compared by accident. Knows nothing of what it
 * opens.
 */

const REDACTED = '[secret]'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The credential itself. Call it only where it is put on the wire or into a hash. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [Symbol.toPrimitive](): string {
    return REDACTED
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }
}

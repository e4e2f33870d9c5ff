/**
 * Round robin: picks the next of many, so that none starves. Must not know what is done with it.
 */

export class Turns<Value> {
  readonly #values: ReadonlyMap<unknown, Value>
  #round: Iterator<Value>

  /** @param values may change meanwhile: a new one comes last in its round */
  constructor(values: ReadonlyMap<unknown, Value>) {
    this.#values = values
    this.#round = values.values()
  }

  /** Undefined: there are none. */
  next(): Value | undefined {
    const { value, done } = this.#round.next()
    if (done !== true) return value
    this.#round = this.#values.values()
    return this.#round.next().value
  }
}

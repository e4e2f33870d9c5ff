/** Iterates over a changing map without an end. Every value gets a turn per round. */
export class RoundRobin<Value> {
  readonly #values: ReadonlyMap<unknown, Value>
  #round: Iterator<Value>

  constructor(values: ReadonlyMap<unknown, Value>) {
    this.#values = values
    this.#round = values.values()
  }

  next(): Value | undefined {
    const { value, done } = this.#round.next()
    if (done !== true) return value
    this.#round = this.#values.values()
    return this.#round.next().value
  }
}

/** An account's keys or access tokens in the order of lists, for accounts with very many. */
import type { ApiKey } from '../core/api-key.ts'

/** A part of a list: the newest `limit` rows that are older than `before`. */
export interface ListPart {
  readonly limit?: number
  readonly before?: Position
  /** Undefined: all rows. */
  readonly isListed?: (record: ApiKey) => boolean
}

interface Position {
  readonly at: number
  readonly id: string
}

interface Listed {
  readonly record: ApiKey
}

export class OrderedKeys<Entry extends Listed> {
  /** Oldest first, so that a new key is appended. */
  readonly #entries: Entry[] = []
  /** False until the first read or removal, because a start adds the keys in any order. */
  #isOrdered = false

  get size(): number {
    return this.#entries.length
  }

  add(entry: Entry): void {
    const place = this.#isOrdered ? this.#countOlder(positionOf(entry)) : this.#entries.length
    this.#entries.splice(place, 0, entry)
  }

  remove(entry: Entry): void {
    this.#order()
    const place = this.#countOlder(positionOf(entry))
    if (this.#entries[place] === entry) this.#entries.splice(place, 1)
  }

  newestFirst({ limit = this.#entries.length, before, isListed }: ListPart): Entry[] {
    this.#order()
    const rows: Entry[] = []
    let place = before === undefined ? this.#entries.length : this.#countOlder(before)
    for (; place > 0 && rows.length < limit; place -= 1) {
      const entry = this.#entries[place - 1]
      if (entry !== undefined && (isListed === undefined || isListed(entry.record)))
        rows.push(entry)
    }
    return rows
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#entries[Symbol.iterator]()
  }

  #order(): void {
    if (this.#isOrdered) return
    this.#entries.sort((a, b) => (isOlder(positionOf(a), positionOf(b)) ? -1 : 1))
    this.#isOrdered = true
  }

  #countOlder(position: Position): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && isOlder(positionOf(entry), position)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function positionOf({ record: { createdAt, id } }: Listed): Position {
  return { at: createdAt, id }
}

function isOlder(one: Position, other: Position): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at
}

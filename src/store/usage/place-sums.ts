/** Adds rows of one account's usage up by place. Must not know where they come from. */
import type { UsageTable } from '../schema.ts'
import { addRow, addRows, toPlace } from './usage-hours.ts'

/** Each of so many is compared with all of them: a text for its place would cost more. */
const FEW = 8

export class PlaceSums {
  /** Undefined: they have become many. */
  #few: UsageTable[] | undefined = []
  readonly #many = new Map<string, UsageTable>()

  /** @param rows nobody else's: the first of a place becomes its sum */
  add(rows: readonly UsageTable[]): void {
    for (const row of rows) {
      if (this.#few === undefined) addRows(this.#many, [row])
      else this.#addToFew(this.#few, row)
    }
  }

  get rows(): readonly UsageTable[] {
    return this.#few ?? [...this.#many.values()]
  }

  #addToFew(few: UsageTable[], row: UsageTable): void {
    const sum = few.find((one) => isSamePlace(one, row))
    if (sum !== undefined) addRow(sum, row)
    else few.push(row)
    if (few.length <= FEW) return
    for (const one of few) this.#many.set(toPlace(one), one)
    this.#few = undefined
  }
}

function isSamePlace(one: UsageTable, other: UsageTable): boolean {
  return (
    one.key_id === other.key_id &&
    one.gate_id === other.gate_id &&
    one.target === other.target &&
    one.starts_at === other.starts_at &&
    one.status_class === other.status_class &&
    one.credential === other.credential
  )
}

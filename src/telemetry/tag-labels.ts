/** The texts of the tags that the operator names as labels, by their hashes in a call's record. */
import type { AccountId } from '../core/ids.ts'

export interface TagLabel {
  readonly tag: string
  /** Empty for a tag without a value. */
  readonly value: string
}

/** The maximum number of remembered tags, of all accounts. */
const MOST_TEXTS = 10_000

export class TagLabels {
  readonly #names: ReadonlySet<string>
  readonly #labels = new Map<string, TagLabel>()

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  /** Called for each tag of a call, before the call ends. */
  note(accountId: AccountId, hash: string, text: string): void {
    const colon = text.indexOf(':')
    const tag = colon < 0 ? text : text.slice(0, colon)
    if (!this.#names.has(tag)) return
    const key = keyOf(accountId, hash)
    if (this.#labels.has(key)) return
    // A call notes its tags again, so a forgotten text returns.
    if (this.#labels.size >= MOST_TEXTS) this.#labels.clear()
    this.#labels.set(key, { tag, value: colon < 0 ? '' : text.slice(colon + 1) })
  }

  /** @param tags hashes, separated by spaces */
  of(accountId: AccountId, tags: string): readonly TagLabel[] {
    return tags.split(' ').flatMap((hash) => this.#labels.get(keyOf(accountId, hash)) ?? [])
  }
}

function keyOf(accountId: AccountId, hash: string): string {
  return `${accountId} ${hash}`
}

/**
 * The models that have reported reasoning to this process: the catalog cannot know them all. Must
 * not know who called them, nor what a report costs.
 */
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'

/** Targets are named by customers: what is remembered of them is bounded. */
const MOST_REMEMBERED = 5_000

export class SeenReasoning {
  readonly #targets = new Set<string>()

  /** Safe to call again. @param target `provider/model` */
  note(accountId: AccountId, target: string): void {
    if (this.#targets.size >= MOST_REMEMBERED) this.#targets.clear()
    this.#targets.add(nameOf(accountId, target))
  }

  has(accountId: AccountId, target: string): boolean {
    return this.#targets.size > 0 && this.#targets.has(nameOf(accountId, target))
  }
}

/** Two accounts' own models may share a name; a vendor's model is the same for everyone. */
function nameOf(accountId: AccountId, target: string): string {
  return ownedSlugOf(target) === undefined ? target : `${accountId}\n${target}`
}

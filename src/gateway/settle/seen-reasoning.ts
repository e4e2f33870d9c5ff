/**
 * The models that have reported reasoning to this process. The catalog cannot list every such
 * model.
 */
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'

/** Customers name targets, so the number is bounded. */
const MOST_REMEMBERED = 5_000

export class SeenReasoning {
  readonly #targets = new Set<string>()

  /**
   * Idempotent.
   * @param target `provider/model`
   */
  note(accountId: AccountId, target: string): void {
    if (this.#targets.size >= MOST_REMEMBERED) this.#targets.clear()
    this.#targets.add(nameOf(accountId, target))
  }

  has(accountId: AccountId, target: string): boolean {
    return this.#targets.size > 0 && this.#targets.has(nameOf(accountId, target))
  }
}

/** Owned models of two accounts may share a name; a provider's model is the same for everyone. */
function nameOf(accountId: AccountId, target: string): string {
  return ownedSlugOf(target) === undefined ? target : `${accountId}\n${target}`
}

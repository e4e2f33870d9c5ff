/** Finds gates by alias, and each account's catch-all. Knows no store. */
import type { Gate } from '../core/gate.ts'
import type { AccountId } from '../core/ids.ts'

export class GateNames {
  readonly #byAlias = new Map<AccountId, Map<string, Gate>>()
  readonly #catchAlls = new Map<AccountId, Gate>()

  find(accountId: AccountId, alias: string): Gate | undefined {
    return this.#byAlias.get(accountId)?.get(alias)
  }

  findCatchAll(accountId: AccountId): Gate | undefined {
    return this.#catchAlls.get(accountId)
  }

  /**
   * @param before undefined for a new gate
   * @param after undefined for a deleted gate
   */
  replace(before: Gate | undefined, after: Gate | undefined): void {
    if (before !== undefined) this.#remove(before)
    if (after !== undefined) this.#add(after)
  }

  #add(gate: Gate): void {
    const { accountId, aliases, isCatchAll } = gate
    if (isCatchAll) this.#catchAlls.set(accountId, gate)
    if (aliases.length === 0) return
    const named = this.#byAlias.get(accountId) ?? new Map<string, Gate>()
    this.#byAlias.set(accountId, named)
    for (const { name } of aliases) named.set(name, gate)
  }

  /** Leaves a name that another gate has taken over already. */
  #remove({ accountId, id, aliases, isCatchAll }: Gate): void {
    if (isCatchAll && this.#catchAlls.get(accountId)?.id === id) this.#catchAlls.delete(accountId)
    const named = this.#byAlias.get(accountId)
    for (const { name } of aliases) if (named?.get(name)?.id === id) named.delete(name)
    if (named?.size === 0) this.#byAlias.delete(accountId)
  }
}

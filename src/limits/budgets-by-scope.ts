/**
 * The counters of all budgets, found by id and by the key or gate that they limit. Knows no quota
 * and no other node.
 */
import type { Budget, BudgetScope } from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import type { CallAhead, Caller } from '../gateway/ports.ts'
import { type BudgetAlert, BudgetCounter } from './budget-counter.ts'

const NONE: readonly BudgetCounter[] = []

export class BudgetsByScope {
  readonly #onAlert: (alert: BudgetAlert) => void
  readonly #byId = new Map<string, BudgetCounter>()
  readonly #byScope = new Map<string, BudgetCounter[]>()

  constructor(onAlert: (alert: BudgetAlert) => void) {
    this.#onAlert = onAlert
  }

  find(id: string): BudgetCounter | undefined {
    return this.#byId.get(id)
  }

  /** Those that a call counts for. */
  findFor({ accountId, keyId }: Caller, { gateId }: Pick<CallAhead, 'gateId'>) {
    if (this.#byScope.size === 0) return NONE
    const ofKey = this.#byScope.get(scopeKey(accountId, 'key', keyId))
    const ofGate = this.#byScope.get(scopeKey(accountId, 'gate', gateId))
    if (ofKey === undefined) return ofGate ?? NONE
    return ofGate === undefined ? ofKey : [...ofKey, ...ofGate]
  }

  put(budget: Budget): void {
    const known = this.#byId.get(budget.id)
    known?.update(budget)
    if (known !== undefined) return
    const counter = new BudgetCounter(budget, this.#onAlert)
    this.#byId.set(budget.id, counter)
    const scope = scopeOf(budget)
    this.#byScope.set(scope, [...(this.#byScope.get(scope) ?? []), counter])
  }

  remove(id: string): void {
    const counter = this.#byId.get(id)
    if (counter === undefined) return
    this.#byId.delete(id)
    const scope = scopeOf(counter.budget)
    const rest = (this.#byScope.get(scope) ?? []).filter((other) => other !== counter)
    if (rest.length === 0) this.#byScope.delete(scope)
    else this.#byScope.set(scope, rest)
  }
}

function scopeOf({ accountId, scope }: Budget): string {
  return scopeKey(accountId, scope.type, scope.type === 'key' ? scope.keyId : scope.gateId)
}

function scopeKey(accountId: AccountId, type: BudgetScope['type'], id: string): string {
  return `${accountId}\n${type}\n${id}`
}

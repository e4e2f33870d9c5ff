/** Finds the budgets that limit a call. An account without budgets costs one look-up. */
import { type Budget, type BudgetScope, toLedgerScope } from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import type { CallDimensions, Caller } from '../gateway/ports.ts'
import { BudgetCounter, type BudgetCounterOptions } from './usage-counter.ts'

const NONE: readonly BudgetCounter[] = []

export class BudgetsByScope {
  readonly #options: BudgetCounterOptions
  readonly #byId = new Map<string, BudgetCounter>()
  readonly #byAccount = new Map<AccountId, AccountBudgets>()

  constructor(options: BudgetCounterOptions) {
    this.#options = options
  }

  find(id: string): BudgetCounter | undefined {
    return this.#byId.get(id)
  }

  findFor(caller: Caller, dimensions: CallDimensions): readonly BudgetCounter[] {
    return this.#byAccount.get(caller.accountId)?.findFor(caller, dimensions) ?? NONE
  }

  put(budget: Budget): void {
    const known = this.#byId.get(budget.id)
    known?.update(budget)
    if (known !== undefined) return
    const counter = new BudgetCounter(budget, this.#options)
    this.#byId.set(budget.id, counter)
    const ofAccount = this.#byAccount.get(budget.accountId) ?? new AccountBudgets()
    this.#byAccount.set(budget.accountId, ofAccount)
    ofAccount.add(counter)
  }

  remove(id: string): void {
    const counter = this.#byId.get(id)
    if (counter === undefined) return
    this.#byId.delete(id)
    const { accountId } = counter.budget
    const ofAccount = this.#byAccount.get(accountId)
    ofAccount?.remove(counter)
    if (ofAccount?.isEmpty === true) this.#byAccount.delete(accountId)
  }
}

class AccountBudgets {
  /** By the scope's key, gate, user or tag; empty for the account. */
  readonly #scopes: Readonly<Record<BudgetScope['type'], Map<string, readonly BudgetCounter[]>>> = {
    account: new Map(),
    key: new Map(),
    gate: new Map(),
    user: new Map(),
    tag: new Map(),
  }

  get isEmpty(): boolean {
    return Object.values(this.#scopes).every(({ size }) => size === 0)
  }

  findFor({ keyId }: Caller, { gateId, user, tags }: CallDimensions): readonly BudgetCounter[] {
    const { account, key, gate, user: ofUsers, tag: ofTags } = this.#scopes
    let found = account.get('') ?? NONE
    found = join(found, key.get(keyId))
    found = join(found, gate.get(gateId))
    if (user !== undefined) found = join(found, ofUsers.get(user))
    if (tags !== undefined && ofTags.size > 0)
      for (const tag of tags.split(' ')) found = join(found, ofTags.get(tag))
    return found
  }

  add(counter: BudgetCounter): void {
    const { scope } = counter.budget
    const ofType = this.#scopes[scope.type]
    const id = idOf(scope)
    ofType.set(id, [...(ofType.get(id) ?? []), counter])
  }

  remove(counter: BudgetCounter): void {
    const { scope } = counter.budget
    const ofType = this.#scopes[scope.type]
    const id = idOf(scope)
    const rest = (ofType.get(id) ?? []).filter((other) => other !== counter)
    if (rest.length === 0) ofType.delete(id)
    else ofType.set(id, rest)
  }
}

function join(
  found: readonly BudgetCounter[],
  more: readonly BudgetCounter[] | undefined,
): readonly BudgetCounter[] {
  if (more === undefined) return found
  return found.length === 0 ? more : [...found, ...more]
}

function idOf(scope: BudgetScope): string {
  const { keyId, gateId, userId, tagId } = toLedgerScope(scope)
  return keyId ?? gateId ?? userId ?? tagId ?? ''
}

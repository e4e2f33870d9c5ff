/** Finds the budgets that limit a call. An account without budgets costs one look-up. */
import { type Budget, type BudgetScope, toLedgerScope } from '../core/budget.ts'
import type { OwnedFuse } from '../core/fuse.ts'
import type { AccountId } from '../core/ids.ts'
import type { CallDimensions } from '../gateway/ports.ts'
import { type CountedCaller, HeadBudget, type HeadCounterOptions } from './head-counter.ts'
import { BudgetCounter, BudgetRule } from './usage-counter.ts'

const NONE: readonly BudgetCounter[] = []

export class BudgetsByScope {
  readonly #options: HeadCounterOptions
  readonly #byId = new Map<string, BudgetCounter | HeadBudget>()
  readonly #byAccount = new Map<AccountId, AccountBudgets>()
  /** Ids of the budgets with a fuse. */
  readonly #fused = new Set<string>()

  constructor(options: HeadCounterOptions) {
    this.#options = options
  }

  /** @returns undefined also for a default budget, which has a counter for each head */
  find(id: string): BudgetCounter | undefined {
    const found = this.#byId.get(id)
    return found instanceof BudgetCounter ? found : undefined
  }

  findFor(caller: CountedCaller, dimensions: CallDimensions): readonly BudgetCounter[] {
    return this.#byAccount.get(caller.accountId)?.findFor(caller, dimensions) ?? NONE
  }

  /** The fuses of the budgets that count a call. Undefined: none. */
  fusesFor(caller: CountedCaller, dimensions: CallDimensions): readonly OwnedFuse[] | undefined {
    if (this.#fused.size === 0) return undefined
    const found = this.findFor(caller, dimensions).flatMap(({ budget: { id, name, fuse } }) =>
      fuse == null ? [] : [{ type: 'budget' as const, id, name, fuse }],
    )
    return found.length === 0 ? undefined : found
  }

  put(budget: Budget): void {
    if (budget.fuse == null) this.#fused.delete(budget.id)
    else this.#fused.add(budget.id)
    const known = this.#byId.get(budget.id)
    if (known instanceof BudgetCounter) this.#update(known, budget)
    else known?.rule.update(budget)
    if (known !== undefined) return
    const rule = new BudgetRule(budget, this.#options)
    const isDefault = budget.scope.type === 'each-user' || budget.scope.type === 'each-key'
    const added = isDefault
      ? new HeadBudget(rule, this.#options)
      : new BudgetCounter(rule, this.#options)
    this.#byId.set(budget.id, added)
    const ofAccount = this.#byAccount.get(budget.accountId) ?? new AccountBudgets()
    this.#byAccount.set(budget.accountId, ofAccount)
    ofAccount.add(added)
  }

  /** A new hash key changes the hash of a tag or an end user. The counter keeps its counts. */
  #update(known: BudgetCounter, budget: Budget): void {
    const isMoved = idOf(known.budget.scope) !== idOf(budget.scope)
    const ofAccount = isMoved ? this.#byAccount.get(budget.accountId) : undefined
    ofAccount?.remove(known)
    known.update(budget)
    ofAccount?.add(known)
  }

  remove(id: string): void {
    this.#fused.delete(id)
    const removed = this.#byId.get(id)
    if (removed === undefined) return
    this.#byId.delete(id)
    const { accountId } = removed.rule.budget
    const ofAccount = this.#byAccount.get(accountId)
    ofAccount?.remove(removed)
    if (ofAccount?.isEmpty === true) this.#byAccount.delete(accountId)
  }

  /** Drops idle counters of heads. */
  sweep(accountId: AccountId): void {
    this.#byAccount.get(accountId)?.sweep()
  }

  /** @param accountId undefined: all accounts */
  readHeadsLater(isAwaited: boolean, accountId?: AccountId): void {
    for (const [id, ofAccount] of this.#byAccount)
      if (accountId === undefined || id === accountId) ofAccount.readHeadsLater(isAwaited)
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
    'each-user': new Map(),
    'each-key': new Map(),
  }
  #defaults: readonly HeadBudget[] = []

  get isEmpty(): boolean {
    return (
      this.#defaults.length === 0 && Object.values(this.#scopes).every(({ size }) => size === 0)
    )
  }

  findFor(caller: CountedCaller, dimensions: CallDimensions): readonly BudgetCounter[] {
    const { account, key, gate, user: ofUsers, tag: ofTags } = this.#scopes
    const { gateId, user, tags } = dimensions
    let found = account.get('') ?? NONE
    found = join(found, key.get(caller.keyId))
    found = join(found, gate.get(gateId))
    if (user !== undefined) found = join(found, ofUsers.get(user))
    if (tags !== undefined && ofTags.size > 0)
      for (const tag of tags.split(' ')) found = join(found, ofTags.get(tag))
    for (const budget of this.#defaults) {
      const head = budget.headOf(caller, dimensions)
      if (head !== undefined && !this.#isReplaced(budget, head))
        found = join(found, [budget.of(head)])
    }
    return found
  }

  /** A head's own budget for the same period and unit replaces the default. */
  #isReplaced({ rule: { budget } }: HeadBudget, head: string): boolean {
    const { user, key } = this.#scopes
    const own = budget.scope.type === 'each-user' ? user : key
    return (
      own
        .get(head)
        ?.some(
          ({ budget: { period, limit } }) =>
            period === budget.period && limit.type === budget.limit.type,
        ) === true
    )
  }

  add(added: BudgetCounter | HeadBudget): void {
    if (added instanceof HeadBudget) {
      this.#defaults = [...this.#defaults, added]
      return
    }
    const { scope } = added.budget
    const ofType = this.#scopes[scope.type]
    const id = idOf(scope)
    ofType.set(id, [...(ofType.get(id) ?? []), added])
    this.#readAfter(id)
  }

  remove(removed: BudgetCounter | HeadBudget): void {
    if (removed instanceof HeadBudget) {
      this.#defaults = this.#defaults.filter((other) => other !== removed)
      return
    }
    const { scope } = removed.budget
    const ofType = this.#scopes[scope.type]
    const id = idOf(scope)
    const rest = (ofType.get(id) ?? []).filter((other) => other !== removed)
    if (rest.length === 0) ofType.delete(id)
    else ofType.set(id, rest)
    this.#readAfter(id)
  }

  sweep(): void {
    for (const budget of this.#defaults) budget.sweep()
  }

  readHeadsLater(isAwaited: boolean): void {
    for (const budget of this.#defaults) budget.readLater(isAwaited)
  }

  /** While a head's own budget applies, the default does not count the head's calls. */
  #readAfter(head: string): void {
    for (const budget of this.#defaults) budget.find(head)?.readLater(true)
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

import { type Budget, createBudgetId } from '../core/budget.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { type ChangesOf, Registry, type SettingsOf, withChanges } from '../snapshots/snapshot.ts'
import type { BudgetTableStore } from '../store/resources/budgets.ts'
import type { UsageWindow } from './usage-counter.ts'
import type { UsageLimits } from './usage-limits.ts'

/** Largest difference between the clocks of synchronised machines. */
const MAY_DIFFER_MS = 1_000

/**
 * Time until the current millisecond is over, with a margin because a timer may fire slightly
 * early.
 */
const PAST_THIS_MILLISECOND_MS = 2

export interface BudgetRegistryOptions {
  readonly budgets: Pick<
    BudgetTableStore,
    'sharedNowMs' | 'loadAll' | 'findSome' | 'insert' | 'change' | 'delete'
  >
  readonly usage: UsageLimits
  readonly clock?: Clock
}

export type NewBudget = SettingsOf<Budget>
export type BudgetChanges = ChangesOf<
  Pick<
    Budget,
    | 'name'
    | 'limit'
    | 'unpriced'
    | 'message'
    | 'raise'
    | 'atLimit'
    | 'refuseAt'
    | 'fuse'
    | 'alertAt'
  >
>

export class BudgetRegistry extends Registry<Budget> {
  readonly #store: BudgetRegistryOptions['budgets']
  readonly #usage: UsageLimits
  readonly #clock: Clock

  private constructor(options: BudgetRegistryOptions) {
    super(options.budgets, 'budget')
    this.#store = options.budgets
    this.#usage = options.usage
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Reads every budget from the store, with counts at zero; `UsageLimits.addPastBudgetUsage` adds
   * past usage.
   */
  static async load(options: BudgetRegistryOptions): Promise<BudgetRegistry> {
    const registry = new BudgetRegistry(options)
    await registry.followAll()
    return registry
  }

  all(): readonly Budget[] {
    return this.heldByAll()
  }

  windowOf(budget: Budget): UsageWindow | undefined {
    return this.#usage.budgetWindow(budget.id, this.#clock.now())
  }

  create(accountId: AccountId, settings: NewBudget): Promise<Budget> {
    return this.inTurn(async () => {
      // The budget counts in memory before the store is written, so that no call of its period is
      // missed.
      const sharedNowMs = (await this.#store.sharedNowMs()) ?? Number.POSITIVE_INFINITY
      const ownNowMs = this.#clock.now() + 1
      // If this node's clock is ahead, other nodes' calls would seem to be older than the budget.
      const now = ownNowMs - sharedNowMs > MAY_DIFFER_MS ? sharedNowMs : ownNowMs
      const budget: Budget = {
        ...settings,
        accountId,
        id: createBudgetId(),
        createdAt: now,
        updatedAt: now,
      }
      this.#usage.putBudget(budget)
      try {
        await this.#store.insert(budget)
      } catch (error) {
        this.#usage.removeBudget(budget.id)
        throw error
      }
      this.hold(budget, budget)
      // The caller may make a call immediately after this method returns. A budget counts calls
      // from the next millisecond on, so the method waits for that millisecond.
      await Bun.sleep(PAST_THIS_MILLISECOND_MS)
      return budget
    })
  }

  update(accountId: AccountId, id: string, changes: BudgetChanges): Promise<Budget> {
    return this.inTurn(async () => {
      this.get(accountId, id)
      const updatedAt = this.#clock.now()
      const saved = await this.#store.change({ accountId, id }, (previous) => ({
        ...withChanges(previous, changes),
        updatedAt,
      }))
      if (saved === undefined) throw this.notFound(accountId, id)
      this.adopt(saved.changed)
      this.#usage.alertBudget(id, this.#clock.now())
      return saved.changed
    })
  }

  protected override adopt(budget: Budget): void {
    super.adopt(budget)
    this.#usage.putBudget(budget)
  }

  protected override forget(accountId: AccountId, id: string): void {
    super.forget(accountId, id)
    this.#usage.removeBudget(id)
  }
}

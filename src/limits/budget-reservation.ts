/** A call's reservation in a budget, and the budget's state when the call was admitted. */
import { amountOf } from '../core/budget.ts'
import type { GatewayError } from '../core/errors.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { CallAhead, CountedBudget } from '../gateway/ports.ts'
import { budgetRefusal } from './limit-refusals.ts'
import type { BudgetCounter, Reservation, Shortage, UsedAmounts } from './usage-counter.ts'

export class BudgetReservation implements CountedBudget {
  readonly share: number
  readonly #counter: BudgetCounter
  readonly #reservation: Reservation
  readonly #shortage: Shortage | undefined

  /** @param shortage of a budget that steers */
  constructor(counter: BudgetCounter, call: CallAhead, shortage?: Shortage) {
    const window = counter.windowAt(call.startedAtMs)
    const { limit } = counter.budget
    const { reservedTokens, reservedNanoUsd } = window
    const reserved = amountOf(limit, { tokens: reservedTokens, nanoUsd: reservedNanoUsd })
    this.share = (amountOf(limit, window) + reserved) / amountOf(limit, counter.ceilings)
    this.#counter = counter
    this.#reservation = counter.reserve(window, call)
    this.#shortage = shortage
  }

  get id(): string {
    return this.#counter.budget.id
  }

  get atLimit() {
    return this.#counter.budget.atLimit ?? 'refuse'
  }

  get scope() {
    return this.#counter.budget.scope
  }

  get isUsedUp(): boolean {
    return this.#shortage !== undefined
  }

  get spend(): SpendState | undefined {
    return this.#counter.spendIn(this.#reservation.window)
  }

  lowerTo(nanoUsd: number): void {
    this.#reservation.lowerTo(nanoUsd)
  }

  toRefusal(): GatewayError {
    return budgetRefusal(this.#counter, {
      window: this.#reservation.window,
      shortage: this.#shortage ?? 'exhausted',
      hasNoTarget: true,
    })
  }

  settle(used: UsedAmounts): void {
    this.#counter.settle(this.#reservation, used)
  }
}

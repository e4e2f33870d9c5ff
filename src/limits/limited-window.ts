/** The usage in a period together with the limits of the quota or budget that counts it. */
import type { AccountId } from '../core/ids.ts'
import { toNanoUsd } from '../core/money.ts'
import type { Plan, Plans } from '../core/plan.ts'
import type { Amounts, BudgetCounter, UsageWindow } from './usage-counter.ts'

/** A quota or budget in a call's period, for counting by all nodes. */
export interface LimitedWindow {
  readonly id: string
  readonly window: UsageWindow
  readonly limits: WindowLimits
}

/** Tokens and billionths of a US dollar; infinite for no limit. May change with time. */
interface WindowLimits {
  /** Amounts from which calls are refused. */
  readonly refuseAt: Amounts
  /**
   * Amounts at which the limit is used up. A budget that steers then changes the targets of calls;
   * other limits then refuse calls, so the amounts equal `refuseAt`.
   */
  readonly ceilings: Amounts
}

export class QuotaLimits implements WindowLimits {
  readonly #plans: Plans
  readonly #accountId: AccountId

  constructor(plans: Plans, accountId: AccountId) {
    this.#plans = plans
    this.#accountId = accountId
  }

  get refuseAt(): Amounts {
    return quotaCeilings(this.#plans.of(this.#accountId))
  }

  get ceilings(): Amounts {
    return this.refuseAt
  }
}

function quotaCeilings({ limits: { monthlyTokens, monthlySpendUsd } }: Plan): Amounts {
  return {
    tokens: monthlyTokens ?? Number.POSITIVE_INFINITY,
    nanoUsd: monthlySpendUsd === null ? Number.POSITIVE_INFINITY : toNanoUsd(monthlySpendUsd),
  }
}

export function toLimitedWindow(counter: BudgetCounter, momentMs: number): LimitedWindow {
  const window = counter.windowAt(momentMs)
  return { id: counter.id, window, limits: counter }
}

/**
 * The count of each budget with its alerts, found by id and by the key or gate that it limits. Must
 * not know where budgets are kept nor who hears of them.
 */

import { amountOf, type Budget, type BudgetScope, ceilingOf } from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import type { CallAhead, Caller } from '../gateway/ports.ts'
import type { Shortage } from './limit-refusals.ts'
import {
  type Amounts,
  Reservation,
  UsageCounter,
  type UsageWindow,
  type UsedAmounts,
} from './usage-counter.ts'

/** A share of a budget was reached. */
export interface BudgetAlert {
  readonly budget: Budget
  /** The share, 1 for all of it. */
  readonly threshold: number
  /** Names the period: milliseconds since the Unix epoch. */
  readonly periodStartsAtMs: number
  readonly periodEndsAtMs: number
  /** In the limit's own unit: tokens, or millionths of a US dollar. */
  readonly used: number
}

export class BudgetCounter {
  readonly #onAlert: (alert: BudgetAlert) => void
  #budget: Budget
  readonly #counter: UsageCounter
  /** The period whose alerts were sent so far; a new one begins anew. */
  #alerted: UsageWindow | undefined
  #alertsSent = 0

  constructor(budget: Budget, onAlert: (alert: BudgetAlert) => void) {
    this.#budget = budget
    this.#counter = new UsageCounter(budget.period, budget.createdAt)
    this.#onAlert = onAlert
  }

  get budget(): Budget {
    return this.#budget
  }

  /** Its limit, and none on what it does not limit. */
  get ceilings(): Amounts {
    const { limit } = this.#budget
    const none = Number.POSITIVE_INFINITY
    const ceiling = ceilingOf(limit)
    return limit.type === 'tokens'
      ? { tokens: ceiling, microUsd: none }
      : { tokens: none, microUsd: ceiling }
  }

  /** Takes over a changed budget of the same scope and period; what was counted stays. */
  update(budget: Budget): void {
    this.#budget = budget
    // The listener knows which alerts it has had already.
    this.#alerted = undefined
  }

  windowAt(atMs: number): UsageWindow {
    return this.#counter.at(atMs)
  }

  /** Why a call that begins now has to be refused; undefined: it has not. */
  shortageAt(window: UsageWindow): Shortage | undefined {
    const { limit } = this.#budget
    const used = amountOf(limit, window)
    const ceiling = ceilingOf(limit)
    if (used >= ceiling) return 'exhausted'
    const reserved = limit.type === 'tokens' ? window.reservedTokens : window.reservedMicroUsd
    return used + reserved >= ceiling ? 'reserved' : undefined
  }

  reserve(window: UsageWindow, tokens: number): Reservation {
    return new Reservation(window, tokens)
  }

  settle(reservation: Reservation, used: UsedAmounts): void {
    reservation.settle(used)
    this.alert(reservation.window)
  }

  /** Tells of every share that is reached and was not told of yet. */
  alert(window: UsageWindow): void {
    if (window !== this.#alerted) {
      this.#alerted = window
      this.#alertsSent = 0
    }
    const { alertAt, limit } = this.#budget
    const used = amountOf(limit, window)
    for (;;) {
      const threshold = alertAt[this.#alertsSent]
      if (threshold === undefined || used < threshold * ceilingOf(limit)) return
      this.#alertsSent += 1
      const { startsAtMs, endsAtMs } = window
      const period = { periodStartsAtMs: startsAtMs, periodEndsAtMs: endsAtMs }
      this.#onAlert({ budget: this.#budget, threshold, ...period, used })
    }
  }
}

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

/**
 * Counts use and reservations by period: of a quota, and of each budget with its alerts. Must not
 * know where budgets are kept, nor who counts or hears of them.
 *
 * A call belongs to the period in which it began, as its row in the ledger does, whenever it ends:
 * so the sums are those of the ledger to the token.
 */

import { amountOf, type Budget, type BudgetScope, ceilingOf } from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import { type Period, type Span, spanOf } from '../core/period.ts'
import type { CallAhead, Caller } from '../gateway/ports.ts'

export interface Amounts {
  readonly tokens: number
  /** Billionths of a US dollar. */
  readonly nanoUsd: number
}

/** Calls have used so much so far. */
export interface UsedSoFar extends Amounts {
  /** Calls that used something and whose cost is not known. */
  readonly unpricedCalls: number
}

/** As far as it can be told before. */
type CallSize = Pick<CallAhead, 'estimatedTokens' | 'usualTokens' | 'leastNanoUsd'>

export function sizeOf({ estimatedTokens, usualTokens = 0 }: CallSize): number {
  return estimatedTokens + usualTokens
}

/** The use of a finished call. */
export interface UsedAmounts extends Amounts {
  /** False: what it cost is not known, and it is not counted as spend. */
  readonly isPriced: boolean
}

export class UsageWindow implements Span {
  readonly startsAtMs: number
  readonly endsAtMs: number
  tokens = 0
  nanoUsd = 0
  /** Calls that used something and whose cost is not known. */
  unpricedCalls = 0
  reservedTokens = 0
  reservedNanoUsd = 0
  /**
   * The sums of all nodes in the ledger, when somebody looked: for who looks, and for no decision.
   */
  #seen: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

  constructor({ startsAtMs, endsAtMs }: Span) {
    this.startsAtMs = startsAtMs
    this.endsAtMs = endsAtMs
  }

  /**
   * The cost of a call's tokens at the average of this period so far, in which fees of tools are,
   * and no less than what it may cost by its own targets' prices.
   */
  estimateNanoUsd(call: CallSize): number {
    const { leastNanoUsd = 0 } = call
    if (this.tokens === 0) return leastNanoUsd
    return Math.max(leastNanoUsd, Math.floor((this.nanoUsd / this.tokens) * sizeOf(call)))
  }

  see(ledger: UsedSoFar): void {
    this.#seen = ledger
  }

  /** For who looks: all that is known, also of nodes with which this one shares no counters. */
  get shown(): UsedSoFar {
    return {
      tokens: Math.max(this.tokens, this.#seen.tokens),
      nanoUsd: Math.max(this.nanoUsd, this.#seen.nanoUsd),
      unpricedCalls: Math.max(this.unpricedCalls, this.#seen.unpricedCalls),
    }
  }

  add(used: UsedAmounts): void {
    this.tokens += used.tokens
    this.nanoUsd += used.nanoUsd
    if (!used.isPriced) this.unpricedCalls += 1
  }
}

/** Amounts set aside for one call until it is known what it used. */
export class Reservation {
  readonly window: UsageWindow
  readonly #tokens: number
  readonly #nanoUsd: number

  constructor(window: UsageWindow, call: CallSize) {
    this.window = window
    this.#tokens = sizeOf(call)
    this.#nanoUsd = window.estimateNanoUsd(call)
    window.reservedTokens += this.#tokens
    window.reservedNanoUsd += this.#nanoUsd
  }

  /**
   * Gives it back, and counts what was really used; undefined: nothing that counts here. Call it
   * once.
   */
  settle(used: UsedAmounts | undefined): void {
    this.window.reservedTokens -= this.#tokens
    this.window.reservedNanoUsd -= this.#nanoUsd
    if (used !== undefined) this.window.add(used)
  }
}

/**
 * Used up, or all of the rest set aside for calls that are under way, which may give some of it
 * back.
 */
export type Shortage = 'exhausted' | 'reserved'

/** Of one quota or budget: this period, the last one, and where clocks jump a few more. */
const KEPT_WINDOWS = 4

export class UsageCounter {
  readonly #period: Period
  readonly #originMs: number
  #window: UsageWindow | undefined
  /** Those of other periods, the one that was asked for last at the end. */
  #others: readonly UsageWindow[] = []

  /** @param originMs what began before in the same period is not asked for */
  constructor(period: Period, originMs = 0) {
    this.#period = period
    this.#originMs = originMs
  }

  /**
   * The period that holds a moment. A clock that is set back finds what its period has counted, and
   * no second one. The period of the origin begins with it, and takes a moment before it too: on
   * another node's clock that moment is later.
   */
  at(momentMs: number): UsageWindow {
    const window = this.#window
    if (window !== undefined && momentMs < window.endsAtMs && momentMs >= window.startsAtMs)
      return window
    return this.#change(momentMs)
  }

  #change(momentMs: number): UsageWindow {
    const { startsAtMs: periodStartsAtMs, endsAtMs } = spanOf(this.#period, momentMs)
    const isOfOrigin = periodStartsAtMs < this.#originMs && this.#originMs < endsAtMs
    const startsAtMs = isOfOrigin ? this.#originMs : periodStartsAtMs
    const before = this.#window
    if (before?.startsAtMs === startsAtMs) return before
    const known = this.#others.find((window) => window.startsAtMs === startsAtMs)
    const window = known ?? new UsageWindow({ startsAtMs, endsAtMs })
    const others = this.#others.filter((other) => other !== known)
    this.#others = before === undefined ? others : [...others, before].slice(1 - KEPT_WINDOWS)
    this.#window = window
    return window
  }
}

/** A share of a budget was reached. */
export interface BudgetAlert {
  readonly budget: Budget
  /** The share, 1 for all of it. */
  readonly threshold: number
  /** Names the period: milliseconds since the Unix epoch. */
  readonly periodStartsAtMs: number
  readonly periodEndsAtMs: number
  /** In the limit's own unit: tokens, or billionths of a US dollar. */
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
      ? { tokens: ceiling, nanoUsd: none }
      : { tokens: none, nanoUsd: ceiling }
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
    const reserved = limit.type === 'tokens' ? window.reservedTokens : window.reservedNanoUsd
    return used + reserved >= ceiling ? 'reserved' : undefined
  }

  reserve(window: UsageWindow, call: CallSize): Reservation {
    return new Reservation(window, call)
  }

  settle(reservation: Reservation, used: UsedAmounts): void {
    reservation.settle(used)
    this.alert(reservation.window)
  }

  /** Reports every share that is reached and was not reported yet. */
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

/** The counters of budgets, found by id and by the key or gate that each limits. */
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

/**
 * Counts usage and reservations by period, for a quota and for budgets with alerts. A call belongs
 * to the period in which it began, so the counters equal the ledger's sums.
 */

import { amountOf, type Budget, ceilingOf, refusalAmountOf } from '../core/budget.ts'
import { type Period, type Span, spanOf } from '../core/period.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { CallAhead } from '../gateway/ports.ts'

export interface Amounts {
  readonly tokens: number
  /** Billionths of a US dollar. */
  readonly nanoUsd: number
}

export interface UsedSoFar extends Amounts {
  readonly unpricedCalls: number
}

export type CallSize = Pick<CallAhead, 'estimatedTokens' | 'usualTokens' | 'leastNanoUsd'>

export function sizeOf({ estimatedTokens, usualTokens = 0 }: CallSize): number {
  return estimatedTokens + usualTokens
}

export interface UsedAmounts extends Amounts {
  /** False when the cost is unknown, and so does not count as spend. */
  readonly isPriced: boolean
}

const NOTHING: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

export class UsageWindow implements Span {
  readonly startsAtMs: number
  readonly endsAtMs: number
  tokens = 0
  nanoUsd = 0
  unpricedCalls = 0
  reservedTokens = 0
  reservedNanoUsd = 0
  /** Whether past usage is included, in a window of a head's counter. */
  isCounted = false
  /** The reading of past usage that is under way. */
  counting: Promise<void> | undefined
  #seen: UsedSoFar = NOTHING

  constructor({ startsAtMs, endsAtMs }: Span) {
    this.startsAtMs = startsAtMs
    this.endsAtMs = endsAtMs
  }

  /**
   * The cost of a call's tokens at this period's average, which includes tool fees, but at least
   * the call's maximum cost by its targets' prices.
   */
  estimateNanoUsd(call: CallSize): number {
    const { leastNanoUsd = 0 } = call
    if (this.tokens === 0) return leastNanoUsd
    return Math.max(leastNanoUsd, Math.floor((this.nanoUsd / this.tokens) * sizeOf(call)))
  }

  see(ledger: UsedSoFar): void {
    this.#seen = ledger
  }

  /**
   * All known usage, including usage of nodes that share no counters with this node. For display
   * only.
   */
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

/** Amounts reserved for a call until its usage is known. */
export class Reservation {
  readonly window: UsageWindow
  readonly #tokens: number
  #nanoUsd: number

  constructor(window: UsageWindow, call: CallSize) {
    this.window = window
    this.#tokens = sizeOf(call)
    this.#nanoUsd = window.estimateNanoUsd(call)
    window.reservedTokens += this.#tokens
    window.reservedNanoUsd += this.#nanoUsd
  }

  /** The call can cost less than was reserved. */
  lowerTo(nanoUsd: number): void {
    const released = this.#nanoUsd - nanoUsd
    if (released <= 0) return
    this.#nanoUsd = nanoUsd
    this.window.reservedNanoUsd -= released
  }

  /** Releases the reservation and counts the real usage, if any. Call this once. */
  settle(used: UsedAmounts | undefined): void {
    this.window.reservedTokens -= this.#tokens
    this.window.reservedNanoUsd -= this.#nanoUsd
    if (used !== undefined) this.window.add(used)
  }
}

export type Shortage = 'exhausted' | 'reserved'

export function shortageOf(used: number, reserved: number, limit: number): Shortage | undefined {
  if (used >= limit) return 'exhausted'
  return used + reserved >= limit ? 'reserved' : undefined
}

export function shortageWithin(limits: Amounts, window: UsageWindow): Shortage | undefined {
  const ofTokens = shortageOf(window.tokens, window.reservedTokens, limits.tokens)
  if (ofTokens === 'exhausted') return ofTokens
  return shortageOf(window.nanoUsd, window.reservedNanoUsd, limits.nanoUsd) ?? ofTokens
}

/**
 * Windows kept per quota or budget: this period, the last period, and a few more for clocks that
 * jump.
 */
const KEPT_WINDOWS = 4

const NO_WINDOWS: readonly UsageWindow[] = []

export class UsageCounter {
  readonly #period: Period
  readonly #originMs: number
  readonly #timeZone: string | undefined
  #window: UsageWindow | undefined
  #others: readonly UsageWindow[] = NO_WINDOWS

  constructor(period: Period, originMs = 0, timeZone?: string) {
    this.#period = period
    this.#originMs = originMs
    this.#timeZone = timeZone
  }

  /**
   * The period that contains a time, with its existing counts after a clock is set back. The first
   * period begins at the origin and also takes earlier times, which are later on another node's
   * clock.
   */
  at(momentMs: number): UsageWindow {
    const window = this.#window
    if (window !== undefined && momentMs < window.endsAtMs && momentMs >= window.startsAtMs)
      return window
    return this.#change(momentMs)
  }

  windows(): readonly UsageWindow[] {
    return this.#window === undefined ? [] : [...this.#others, this.#window]
  }

  #change(momentMs: number): UsageWindow {
    const span = spanOf(this.#period, momentMs, this.#timeZone)
    const { startsAtMs: periodStartsAtMs, endsAtMs } = span
    const isOfOrigin = periodStartsAtMs < this.#originMs && this.#originMs < endsAtMs
    const startsAtMs = isOfOrigin ? this.#originMs : periodStartsAtMs
    const before = this.#window
    if (before?.startsAtMs === startsAtMs) return before
    const known = this.#others.find((window) => window.startsAtMs === startsAtMs)
    const window = known ?? new UsageWindow({ startsAtMs, endsAtMs })
    const others = this.#others.filter((other) => other !== known)
    this.#others = before === undefined ? this.#others : [...others, before].slice(1 - KEPT_WINDOWS)
    this.#window = window
    return window
  }
}

export interface BudgetAlert {
  readonly budget: Budget
  readonly threshold: number
  readonly periodStartsAtMs: number
  readonly periodEndsAtMs: number
  readonly used: number
  /** The budget's limit with its raise, in its unit. */
  readonly limit: number
}

export interface BudgetCounterOptions {
  readonly onAlert: (alert: BudgetAlert) => void
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/** A budget with its limits in the form that counters compare. */
export class BudgetRule {
  readonly #now: () => number
  #budget: Budget
  #usual: BudgetBounds
  #raised: BudgetBounds

  constructor(budget: Budget, { now }: Pick<BudgetCounterOptions, 'now'>) {
    this.#now = now
    this.#budget = budget
    this.#usual = toBounds(budget, Number.POSITIVE_INFINITY)
    this.#raised = toBounds(budget, Number.NEGATIVE_INFINITY)
  }

  get budget(): Budget {
    return this.#budget
  }

  /** Amounts at which the budget is used up, including a raise that has not ended. */
  get ceilings(): Amounts {
    return this.#bounds.ceilings
  }

  /** The amounts from which calls are refused. */
  get refuseAt(): Amounts {
    return this.#bounds.refuseAt
  }

  get #bounds(): BudgetBounds {
    const { raise } = this.#budget
    return raise != null && this.#now() < raise.untilMs ? this.#raised : this.#usual
  }

  update(budget: Budget): void {
    this.#budget = budget
    this.#usual = toBounds(budget, Number.POSITIVE_INFINITY)
    this.#raised = toBounds(budget, Number.NEGATIVE_INFINITY)
  }
}

export class BudgetCounter {
  readonly rule: BudgetRule
  readonly #onAlert: BudgetCounterOptions['onAlert']
  readonly #counter: UsageCounter
  #alerted: UsageWindow | undefined
  #alertsSent = 0

  constructor(rule: BudgetRule, { onAlert }: Pick<BudgetCounterOptions, 'onAlert'>) {
    this.rule = rule
    this.#onAlert = onAlert
    this.#counter = new UsageCounter(
      rule.budget.period,
      rule.budget.createdAt,
      rule.budget.timeZone,
    )
  }

  /** Names the counter among all nodes. */
  get id(): string {
    return this.rule.budget.id
  }

  get budget(): Budget {
    return this.rule.budget
  }

  get ceilings(): Amounts {
    return this.rule.ceilings
  }

  get refuseAt(): Amounts {
    return this.rule.refuseAt
  }

  update(budget: Budget): void {
    this.rule.update(budget)
    // The listener knows which alerts were received already.
    this.#alerted = undefined
  }

  windowAt(atMs: number): UsageWindow {
    return this.#counter.at(atMs)
  }

  protected windows(): readonly UsageWindow[] {
    return this.#counter.windows()
  }

  /** Undefined when past usage is counted, or is counted with that of all budgets. */
  whenCounted(_atMs: number): Promise<void> | undefined {
    return undefined
  }

  /** Undefined for a limit in tokens. */
  spendIn({
    nanoUsd,
    endsAtMs,
  }: Pick<UsageWindow, 'nanoUsd' | 'endsAtMs'>): SpendState | undefined {
    const { limit, period } = this.budget
    if (limit.type !== 'spend') return undefined
    return { period, usedNanoUsd: nanoUsd, limitNanoUsd: this.ceilings.nanoUsd, endsAtMs }
  }

  reserve(window: UsageWindow, call: CallSize): Reservation {
    return new Reservation(window, call)
  }

  settle(reservation: Reservation, used: UsedAmounts): void {
    reservation.settle(used)
    this.alert(reservation.window)
  }

  alert(window: UsageWindow): void {
    if (window !== this.#alerted) {
      this.#alerted = window
      this.#alertsSent = 0
    }
    const { alertAt, limit } = this.budget
    const used = amountOf(limit, window)
    const most = amountOf(limit, this.ceilings)
    for (;;) {
      const threshold = alertAt[this.#alertsSent]
      if (threshold === undefined || used < threshold * most) return
      this.#alertsSent += 1
      const { startsAtMs, endsAtMs } = window
      const period = { periodStartsAtMs: startsAtMs, periodEndsAtMs: endsAtMs }
      this.#onAlert({ budget: this.budget, threshold, ...period, used, limit: most })
    }
  }
}

interface BudgetBounds {
  readonly ceilings: Amounts
  readonly refuseAt: Amounts
}

function toBounds(budget: Budget, nowMs: number): BudgetBounds {
  const none = Number.POSITIVE_INFINITY
  const toAmounts = (most: number) =>
    budget.limit.type === 'tokens'
      ? { tokens: most, nanoUsd: none }
      : { tokens: none, nanoUsd: most }
  return {
    ceilings: toAmounts(ceilingOf(budget, nowMs)),
    refuseAt: toAmounts(refusalAmountOf(budget, nowMs)),
  }
}

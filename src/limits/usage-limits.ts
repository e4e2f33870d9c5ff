/**
 * The account's monthly quota and its budgets, in this process's memory. A call
 * is admitted while used plus reserved amounts are below the limit.
 */
import { type Budget, type BudgetScope, steers } from '../core/budget.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import type { OwnedFuse } from '../core/fuse.ts'
import type { AccountId } from '../core/ids.ts'
import { toNanoUsd } from '../core/money.ts'
import type { Plan, Plans } from '../core/plan.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { CallAhead, CallDimensions, Caller, PriceDemand } from '../gateway/ports.ts'
import { AwaitedPast, type PastReading } from './awaited-past.ts'
import { BudgetReservation } from './budget-reservation.ts'
import { BudgetsByScope } from './budgets-by-scope.ts'
import { HeadCounter, isPersonal } from './head-counter.ts'
import { HeadReadings, type ReadHeads } from './head-readings.ts'
import { budgetRefusal, quotaRefusal } from './limit-refusals.ts'
import { type LimitedWindow, QuotaLimits, toLimitedWindow } from './limited-window.ts'
import { addPast, type PastUsage, raiseTo, sumOf } from './past-sums.ts'
import {
  type Amounts,
  type BudgetAlert,
  type BudgetCounter,
  Reservation,
  type Shortage,
  shortageOf,
  shortageWithin,
  UsageCounter,
  type UsageWindow,
  type UsedAmounts,
  type UsedSoFar,
} from './usage-counter.ts'

interface UsageLimitsOptions {
  readonly plans: Plans
  readonly onAlert?: (alert: BudgetAlert) => void
  /** Whether API keys of the account see figures of people. */
  readonly showsPeople?: (accountId: AccountId) => boolean
  readonly clock?: Clock
}

export interface QuotaState {
  readonly plan: Plan
  readonly window: UsageWindow
}

interface UsageSharing {
  /** Forgets a window, unless other nodes do not know its usage. */
  drop(window: UsageWindow): boolean
  countPast(window: UsageWindow, past: UsedSoFar, isAgain: boolean): void
  /** The shortage that this node knows of, also within its own share of the amounts. */
  shortageOf(window: UsageWindow, amounts: Amounts): Shortage | undefined
}

export type BudgetReservations = readonly BudgetReservation[]

const NO_RESERVATIONS: BudgetReservations = []

/** The scopes that hold the calls of one key or person. */
const OWN_SCOPES: ReadonlySet<BudgetScope['type']> = new Set([
  'key',
  'user',
  'each-user',
  'each-key',
])

export class UsageLimits {
  readonly #plans: Plans
  readonly #quotas = new Map<AccountId, UsageCounter>()
  readonly #budgets: BudgetsByScope
  readonly #past = new AwaitedPast()
  readonly #showsPeople: (accountId: AccountId) => boolean
  #sharing: UsageSharing | undefined
  #headReadings: HeadReadings | undefined

  constructor({
    plans,
    onAlert = () => {},
    showsPeople = () => false,
    clock = systemClock,
  }: UsageLimitsOptions) {
    this.#plans = plans
    this.#showsPeople = showsPeople
    this.#budgets = new BudgetsByScope({
      onAlert,
      now: () => clock.now(),
      readPast: async (counter, window) =>
        (await this.#headReadings?.read({ counter, window })) ?? NOTHING,
      countPast: (window, past) => this.#countPast(window, past, true),
      mayDrop: (window) => this.#sharing?.drop(window) ?? true,
    })
  }

  shareWith(sharing: UsageSharing): void {
    this.#sharing = sharing
  }

  /** Without this, heads have no past usage. */
  readHeadsWith(read: ReadHeads): void {
    this.#headReadings = new HeadReadings(read)
  }

  /**
   * The ledger may know more usage of heads than their counters.
   * @param isAwaited whether the next calls wait for the reading
   * @param accountId undefined: all accounts
   */
  readHeadsLater(isAwaited: boolean, accountId?: AccountId): void {
    this.#budgets.readHeadsLater(isAwaited, accountId)
  }

  budgetWindowsFor(caller: Caller, call: CallAhead): readonly LimitedWindow[] {
    const counters = this.#budgets.findFor(caller, call)
    if (counters.length === 0) return NO_WINDOWS
    return counters.map((counter) => toLimitedWindow(counter, call.startedAtMs))
  }

  windowsAt(
    accountId: AccountId,
    budgetIds: readonly string[],
    momentMs: number,
  ): readonly LimitedWindow[] {
    const quota = this.#limitedQuota(accountId, momentMs)
    const ofBudgets = budgetIds.flatMap((id) => {
      const counter = this.#budgets.find(id)
      return counter === undefined ? NO_WINDOWS : [toLimitedWindow(counter, momentMs)]
    })
    return [quota, ...ofBudgets]
  }

  quotaAt(accountId: AccountId, momentMs: number): UsageWindow {
    return this.#quotaOf(accountId).at(momentMs)
  }

  quotaWindowFor({ accountId }: Caller, call: CallAhead): LimitedWindow {
    return this.#limitedQuota(accountId, call.startedAtMs)
  }

  #limitedQuota(accountId: AccountId, momentMs: number): LimitedWindow {
    const window = this.quotaAt(accountId, momentMs)
    return { id: accountId, window, limits: new QuotaLimits(this.#plans, accountId) }
  }

  /** Past usage is uncounted until the reading resolves. */
  awaitPast(reading: PastReading): void {
    this.#past.await(reading)
  }

  /**
   * `reading`: calls with a quota or budget wait. `failing`: the last attempt failed, and such
   * calls are refused.
   */
  pastState(): ReturnType<AwaitedPast['state']> {
    return this.#past.state()
  }

  /**
   * Resolves when past usage is counted; undefined when no wait is needed.
   * @throws GatewayError `unavailable` (rejects)
   */
  whenCounted(): Promise<void> | undefined {
    return this.#past.budgets
  }

  whenCountedFor(
    caller: Caller,
    dimensions: CallDimensions,
    startedAtMs: number,
  ): Promise<void> | undefined {
    const counters = this.#budgets.findFor(caller, dimensions)
    const past = this.#past.budgets
    if (past === undefined)
      return counters.length === 0 ? undefined : whenAll(counters, startedAtMs)
    if (counters.some((counter) => counter instanceof HeadCounter))
      return past.then(() => whenAll(counters, startedAtMs))
    if (counters.length > 0) return past
    const { monthlyTokens, monthlySpendUsd } = this.#plans.of(caller.accountId).limits
    return monthlyTokens !== null || monthlySpendUsd !== null ? this.#past.quotas : undefined
  }

  /** The limits in money that refuse a target without a price; undefined without such limits. */
  priceDemand(caller: Caller, dimensions: CallDimensions): PriceDemand | undefined {
    const { name, unpriced, limits } = this.#plans.of(caller.accountId)
    const plan =
      limits.monthlySpendUsd !== null && unpriced === 'refuse' ? `the plan ${name}` : undefined
    const strict = this.#budgets
      .findFor(caller, dimensions)
      .find(({ budget }) => budget.limit.type === 'spend' && budget.unpriced === 'refuse')
    if (strict === undefined && plan === undefined) return undefined
    return { plan, budget: strict && `the budget ${strict.budget.name} (${strict.budget.id})` }
  }

  estimatesUnpriced(caller: Caller, dimensions: CallDimensions): boolean {
    const { unpriced, limits } = this.#plans.of(caller.accountId)
    if (limits.monthlySpendUsd !== null && unpriced === 'estimate') return true
    return this.#budgets
      .findFor(caller, dimensions)
      .some(({ budget }) => budget.limit.type === 'spend' && budget.unpriced === 'estimate')
  }

  limitsSpend(caller: Caller, dimensions: CallDimensions): boolean {
    if (this.#plans.of(caller.accountId).limits.monthlySpendUsd !== null) return true
    return this.#budgets
      .findFor(caller, dimensions)
      .some(({ budget }) => budget.limit.type === 'spend')
  }

  fusesFor(caller: Caller, dimensions: CallDimensions): readonly OwnedFuse[] | undefined {
    return this.#budgets.fusesFor(caller, dimensions)
  }

  ownSpend(caller: Caller, dimensions: CallDimensions, nowMs: number): readonly SpendState[] {
    return this.#budgets.findFor(caller, dimensions).flatMap((counter) => {
      const { endsAtMs, shown } = counter.windowAt(nowMs)
      const { scope } = counter.budget
      const isOwn = OWN_SCOPES.has(scope.type) && this.showsSpend(caller, scope)
      return isOwn ? (counter.spendIn({ endsAtMs, nanoUsd: shown.nanoUsd }) ?? []) : []
    })
  }

  /**
   * Whether the caller may see the usage of the budget. Every member can create an API key whose
   * calls count for another member.
   */
  showsSpend(caller: Caller, { type }: Pick<BudgetScope, 'type'>): boolean {
    if (type !== 'user' && type !== 'each-user') return true
    return isPersonal(caller) || (caller.token === undefined && this.#showsPeople(caller.accountId))
  }

  /**
   * @param isChecked whether the store has granted the reservation, so that nothing is refused
   * @throws GatewayError `quota_exceeded`; `rate_limited` while other calls have reserved all that
   * is left
   */
  reserveBudgets(caller: Caller, call: CallAhead, isChecked = false): BudgetReservations {
    const counters = this.#budgets.findFor(caller, call)
    if (counters.length === 0) return NO_RESERVATIONS
    this.#budgets.sweep(caller.accountId)
    if (!isChecked) for (const counter of counters) assertWithin(counter, call)
    return counters.map((counter) => this.#reserveBudget(counter, call))
  }

  #reserveBudget(counter: BudgetCounter, call: CallAhead): BudgetReservation {
    if (!steers(counter.budget)) return new BudgetReservation(counter, call)
    const window = counter.windowAt(call.startedAtMs)
    const shortage =
      this.#sharing === undefined
        ? shortageWithin(counter.ceilings, window)
        : this.#sharing.shortageOf(window, counter.ceilings)
    return new BudgetReservation(counter, call, shortage)
  }

  settleBudgets(reservations: BudgetReservations, used: UsedAmounts): void {
    for (const reservation of reservations) reservation.settle(used)
  }

  /** @param isChecked whether the store has granted the reservation, so that nothing is refused */
  reserveQuota(caller: Caller, call: CallAhead, isChecked = false): Reservation | GatewayError {
    const window = this.#quotaOf(caller.accountId).at(call.startedAtMs)
    return (
      (isChecked ? undefined : this.#quotaRefusal(caller, window)) ?? new Reservation(window, call)
    )
  }

  #quotaRefusal({ accountId }: Caller, window: UsageWindow): GatewayError | undefined {
    const { monthlyTokens, monthlySpendUsd } = this.#plans.of(accountId).limits
    if (monthlyTokens !== null) {
      const shortage = shortageOf(window.tokens, window.reservedTokens, monthlyTokens)
      if (shortage !== undefined) return quotaRefusal('tokens', monthlyTokens, { window, shortage })
    }
    if (monthlySpendUsd !== null) {
      const limit = toNanoUsd(monthlySpendUsd)
      const shortage = shortageOf(window.nanoUsd, window.reservedNanoUsd, limit)
      if (shortage !== undefined)
        return quotaRefusal('spend', monthlySpendUsd, { window, shortage })
    }
    return undefined
  }

  quotaOf(accountId: AccountId, nowMs: number): QuotaState {
    return { plan: this.#plans.of(accountId), window: this.quotaAt(accountId, nowMs) }
  }

  putBudget(budget: Budget): void {
    this.#budgets.put(budget)
  }

  removeBudget(id: string): void {
    this.#budgets.remove(id)
  }

  budgetWindow(id: string, momentMs: number): UsageWindow | undefined {
    return this.#budgets.find(id)?.windowAt(momentMs)
  }

  /**
   * Sends due alerts of a budget. Takes the window, because looking up an old period by its time
   * could displace the current period.
   */
  alertWindow(id: string, window: UsageWindow): void {
    this.#budgets.find(id)?.alert(window)
  }

  /** Sends due alerts of a budget, for example after its usage was loaded or its limit changed. */
  alertBudget(id: string, nowMs: number): void {
    const counter = this.#budgets.find(id)
    counter?.alert(counter.windowAt(nowMs))
  }

  addPastQuotaUsage(momentMs: number, past: readonly PastUsage[], isAgain = false): void {
    const byAccount = new Map<AccountId, PastUsage[]>()
    for (const usage of past) {
      if (!usage.countsForQuota) continue
      const ofAccount = byAccount.get(usage.accountId)
      if (ofAccount === undefined) byAccount.set(usage.accountId, [usage])
      else ofAccount.push(usage)
    }
    for (const [accountId, ofAccount] of byAccount)
      this.#countPast(this.quotaAt(accountId, momentMs), sumOf(ofAccount), isAgain)
  }

  addPastBudgetUsage(id: string, momentMs: number, past: UsedSoFar, isAgain = false): void {
    const counter = this.#budgets.find(id)
    if (counter !== undefined) this.#countPast(counter.windowAt(momentMs), past, isAgain)
  }

  /**
   * Updates displayed usage of an account's month or a budget's period from the ledger, without
   * counting.
   */
  seePastQuotaUsage(accountId: AccountId, momentMs: number, past: readonly PastUsage[]): void {
    const ofQuota = past.filter((usage) => usage.accountId === accountId && usage.countsForQuota)
    this.quotaAt(accountId, momentMs).see(sumOf(ofQuota))
  }

  seePastBudgetUsage(id: string, momentMs: number, past: UsedSoFar): void {
    this.#budgets.find(id)?.windowAt(momentMs).see(past)
  }

  #countPast(window: UsageWindow, past: UsedSoFar, isAgain: boolean): void {
    if (this.#sharing !== undefined) this.#sharing.countPast(window, past, isAgain)
    else if (isAgain) raiseTo(window, past)
    else addPast(window, past)
  }

  #quotaOf(accountId: AccountId): UsageCounter {
    const known = this.#quotas.get(accountId)
    if (known !== undefined) return known
    const counter = new UsageCounter('month')
    this.#quotas.set(accountId, counter)
    return counter
  }
}

const NO_WINDOWS: readonly LimitedWindow[] = []
const NOTHING: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

function whenAll(counters: readonly BudgetCounter[], atMs: number): Promise<void> | undefined {
  let waiting: Promise<void>[] | undefined
  for (const counter of counters) {
    const counting = counter.whenCounted(atMs)
    if (counting === undefined) continue
    waiting ??= []
    waiting.push(counting)
  }
  return waiting === undefined ? undefined : Promise.all(waiting).then(() => {})
}

function assertWithin(counter: BudgetCounter, { startedAtMs }: CallAhead): void {
  const window = counter.windowAt(startedAtMs)
  const shortage = shortageWithin(counter.refuseAt, window)
  if (shortage !== undefined) throw budgetRefusal(counter, { window, shortage })
}

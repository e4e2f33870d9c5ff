/**
 * Admits calls: budgets, then the rates of the key, then the account's rates, then the quota. The
 * same code runs with limits in memory and with limits shared by nodes.
 */
import type { Stopwatch } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { OwnedFuse } from '../core/fuse.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { fullestOf, type SpendState } from '../core/spend-state.ts'
import type {
  CallAhead,
  CallDimensions,
  Caller,
  CountedBudget,
  Limits,
  PriceDemand,
  RateLimits,
  Slot,
  Spent,
  Ticket,
} from '../gateway/ports.ts'
import {
  type Holder,
  limitsUnavailable,
  toHeaders,
  tooManyConcurrent,
  tooManyRequests,
  tooManyTokens,
} from './limit-refusals.ts'
import type { RateOutcome, RateRefusal, Rates } from './rates.ts'
import { type Reservation, sizeOf } from './usage-counter.ts'
import type { BudgetReservations, UsageLimits } from './usage-limits.ts'

export interface RateStorage {
  find(holder: Holder, id: string, limits: RateLimits, nowMs: number): Rates
  sweep(nowMs: number, added: number): void
}

/** Reserves in quotas and budgets. Both return promises only when a store has to be asked. */
export interface UsageStorage {
  /**
   * @throws GatewayError (or rejects) `quota_exceeded`; `rate_limited` while other calls have
   * reserved all that is left
   */
  reserveBudgets(caller: Caller, call: CallAhead): MaybePromise<BudgetReservations>
  reserveQuota(caller: Caller, call: CallAhead): MaybePromise<Reservation | GatewayError>
}

export interface CallLimitsOptions {
  readonly clock: Stopwatch
  readonly usage: UsageLimits
  readonly rates: RateStorage
  readonly reservations: UsageStorage
}

const NOTHING_USED = { tokens: 0, nanoUsd: 0, isPriced: true }
const NO_SLOT: Slot = { release: () => {} }

export class CallLimits implements Limits {
  readonly #clock: Stopwatch
  readonly #usage: UsageLimits
  readonly #rates: RateStorage
  readonly #reservations: UsageStorage

  constructor({ clock, usage, rates, reservations }: CallLimitsOptions) {
    this.#clock = clock
    this.#usage = usage
    this.#rates = rates
    this.#reservations = reservations
  }

  priceDemand(caller: Caller, dimensions: CallDimensions): PriceDemand | undefined {
    return this.#usage.priceDemand(caller, dimensions)
  }

  estimatesUnpriced(caller: Caller, dimensions: CallDimensions): boolean {
    return this.#usage.estimatesUnpriced(caller, dimensions)
  }

  limitsSpend(caller: Caller, dimensions: CallDimensions): boolean {
    return this.#usage.limitsSpend(caller, dimensions)
  }

  fusesFor(caller: Caller, dimensions: CallDimensions): readonly OwnedFuse[] | undefined {
    return this.#usage.fusesFor(caller, dimensions)
  }

  ownSpend(caller: Caller, dimensions: CallDimensions, nowMs: number): readonly SpendState[] {
    return this.#usage.ownSpend(caller, dimensions, nowMs)
  }

  whenReady(
    caller: Caller,
    dimensions: CallDimensions,
    startedAtMs: number,
  ): Promise<void> | undefined {
    return this.#usage.whenCountedFor(caller, dimensions, startedAtMs)
  }

  acquireSlot(caller: Caller, nowMs: number): Slot {
    const { limits } = caller
    const key = this.#ofKey(caller, nowMs)
    const account = this.#ofAccount(caller, nowMs)
    if (key === undefined && account === undefined) return NO_SLOT
    const refusal = key?.acquireSlot(limits, nowMs)
    if (refusal !== undefined) throw toError(refusal, 'key', { key, account, caller })
    if (account !== undefined && limits.account !== undefined) {
      const ofAccount = account.acquireSlot(limits.account, nowMs)
      if (ofAccount !== undefined) {
        key?.releaseSlot()
        throw toError(ofAccount, 'account', { key, account, caller })
      }
    }
    return new RateSlot(key, account)
  }

  admit(caller: Caller, call: CallAhead): MaybePromise<Ticket> {
    const budgets = this.#reservations.reserveBudgets(caller, call)
    // Separate methods await the promises, because a closure here would cost time in every call.
    return budgets instanceof Promise
      ? this.#admitAfterBudgets(caller, call, budgets)
      : this.#admitByKey(caller, call, budgets)
  }

  async #admitAfterBudgets(
    caller: Caller,
    call: CallAhead,
    budgets: Promise<BudgetReservations>,
  ): Promise<Ticket> {
    return await this.#admitByKey(caller, call, await budgets)
  }

  /**
   * The key is asked before the account, so that a flood of one key takes nothing from the
   * account's other keys.
   */
  #admitByKey(caller: Caller, call: CallAhead, budgets: BudgetReservations): MaybePromise<Ticket> {
    const { limits } = caller
    const nowMs = this.#clock.elapsed()
    this.#rates.sweep(nowMs, limits.account === undefined ? 1 : 2)
    const key = this.#ofKey(caller, nowMs)
    const account = this.#ofAccount(caller, nowMs)
    // A call that needs more than a minute's tokens waits for a full bucket.
    const tokens = Math.min(sizeOf(call), limits.tokensPerMinute)
    const ticket = new RateTicket({
      usage: this.#usage,
      reservations: this.#reservations,
      caller,
      call,
      budgets,
      key,
      account,
      tokens,
    })
    const outcome = key === undefined ? tokens : key.take(limits, tokens, nowMs)
    return outcome instanceof Promise
      ? this.#admitAfterKey(ticket, outcome)
      : this.#admitByAccount(ticket, outcome, nowMs)
  }

  async #admitAfterKey(ticket: RateTicket, outcome: Promise<RateOutcome>): Promise<Ticket> {
    return await this.#admitByAccount(ticket, await outcome, this.#clock.elapsed())
  }

  #admitByAccount(ticket: RateTicket, ofKey: RateOutcome, nowMs: number): MaybePromise<Ticket> {
    if (typeof ofKey !== 'number') throw ticket.refuse(ofKey, 'key')
    ticket.tokens = ofKey
    const { account, caller } = ticket
    if (account === undefined || caller.limits.account === undefined) return ticket
    const outcome = account.take(caller.limits.account, 0, nowMs)
    return outcome instanceof Promise
      ? this.#admitAfterAccount(ticket, outcome)
      : this.#finish(ticket, outcome, nowMs)
  }

  async #admitAfterAccount(ticket: RateTicket, outcome: Promise<RateOutcome>): Promise<Ticket> {
    return this.#finish(ticket, await outcome, this.#clock.elapsed())
  }

  #finish(ticket: RateTicket, ofAccount: RateOutcome, nowMs: number): Ticket {
    if (typeof ofAccount === 'number') return ticket
    ticket.key?.undo(ticket.tokens, nowMs)
    throw ticket.refuse(ofAccount, 'account')
  }

  #ofKey({ keyId, limits }: Caller, nowMs: number): Rates | undefined {
    return hasLimits(limits) ? this.#rates.find('key', keyId, limits, nowMs) : undefined
  }

  #ofAccount({ accountId, limits: { account } }: Caller, nowMs: number): Rates | undefined {
    return account && this.#rates.find('account', accountId, account, nowMs)
  }
}

function hasLimits({ requestsPerMinute, tokensPerMinute, concurrentCalls }: RateLimits): boolean {
  return (
    Number.isFinite(requestsPerMinute) ||
    Number.isFinite(tokensPerMinute) ||
    Number.isFinite(concurrentCalls)
  )
}

interface LimitedCall {
  readonly key: Rates | undefined
  readonly account: Rates | undefined
  readonly caller: Caller
  readonly tokens?: number
}

function toError(refusal: RateRefusal, holder: Holder, call: LimitedCall): GatewayError {
  const { key, account, caller, tokens = 0 } = call
  const buckets = { key: bucketsOf(key), account: bucketsOf(account) }
  const limits = holder === 'key' ? caller.limits : caller.limits.account
  if (refusal === 'requests') return tooManyRequests(holder, buckets)
  if (refusal === 'tokens' && buckets.key !== undefined)
    return tooManyTokens({ ...buckets, key: buckets.key }, Math.max(1, tokens), key?.running === 0)
  if (refusal === 'concurrent' && limits !== undefined)
    return tooManyConcurrent(holder, buckets, limits.concurrentCalls)
  return limitsUnavailable()
}

function bucketsOf(rates: Rates | undefined) {
  return rates && { requests: rates.requests.view, tokens: rates.tokens.view }
}

class RateSlot implements Slot {
  readonly #key: Rates | undefined
  readonly #account: Rates | undefined
  #isReleased = false

  constructor(key: Rates | undefined, account: Rates | undefined) {
    this.#key = key
    this.#account = account
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#key?.releaseSlot()
    this.#account?.releaseSlot()
  }
}

interface TicketParts extends Required<LimitedCall> {
  readonly usage: UsageLimits
  readonly reservations: UsageStorage
  readonly call: CallAhead
  readonly budgets: BudgetReservations
}

class RateTicket implements Ticket {
  readonly key: Rates | undefined
  readonly account: Rates | undefined
  readonly caller: Caller
  tokens: number
  readonly #usage: UsageLimits
  readonly #reservations: UsageStorage
  readonly #call: CallAhead
  readonly #budgets: BudgetReservations
  #quota: Reservation | undefined
  #isSettled = false

  constructor(parts: TicketParts) {
    this.key = parts.key
    this.account = parts.account
    this.caller = parts.caller
    this.tokens = parts.tokens
    this.#usage = parts.usage
    this.#reservations = parts.reservations
    this.#call = parts.call
    this.#budgets = parts.budgets
  }

  get budgets(): readonly CountedBudget[] | undefined {
    return this.#budgets.length === 0 ? undefined : this.#budgets
  }

  get headers(): Record<string, string> {
    return toHeaders({ key: bucketsOf(this.key), account: bucketsOf(this.account) })
  }

  get spend(): SpendState | undefined {
    const shown = this.#budgets.filter(({ scope }) => this.#usage.showsSpend(this.caller, scope))
    return fullestOf(shown.flatMap(({ spend }) => spend ?? []))
  }

  refuse(refusal: RateRefusal, holder: Holder): GatewayError {
    this.#usage.settleBudgets(this.#budgets, NOTHING_USED)
    return toError(refusal, holder, this)
  }

  reserveQuota(): MaybePromise<GatewayError | undefined> {
    if (this.#isSettled || this.#quota !== undefined) return undefined
    const reserved = this.#reservations.reserveQuota(this.caller, this.#call)
    return reserved instanceof Promise ? this.#keepLater(reserved) : this.#keep(reserved)
  }

  async #keepLater(
    reserving: Promise<Reservation | GatewayError>,
  ): Promise<GatewayError | undefined> {
    return this.#keep(await reserving)
  }

  #keep(reserved: Reservation | GatewayError): GatewayError | undefined {
    if (reserved instanceof GatewayError) return reserved
    // If the call ended while the store was asked, the reservation is released.
    if (this.#isSettled) reserved.settle(undefined)
    else this.#quota = reserved
    return undefined
  }

  settle(spent: Spent): void {
    if (this.#isSettled) return
    this.#isSettled = true
    // Unknown usage keeps the reserved tokens. Otherwise clients that leave early would call for
    // free.
    this.key?.giveBack(spent.tokens === null ? 0 : spent.tokens - this.tokens, spent.endedAtMs)
    this.account?.giveBack(0, spent.endedAtMs)
    const { nanoUsd } = spent.cost
    const tokens = spent.tokens ?? 0
    const used = { tokens, nanoUsd: nanoUsd ?? 0, isPriced: nanoUsd !== null || tokens === 0 }
    this.#quota?.settle(spent.countsForQuota ? used : undefined)
    this.#usage.settleBudgets(this.#budgets, used)
  }
}

/**
 * Limits that all nodes share: what a key, or all keys of an account, may use is leased from the
 * shared store in small parts (key-lease.ts); the usage of accounts and budgets is counted there.
 * Must not know HTTP or which store it is.
 */

import type { SharedStore } from '../cluster/shared-store.ts'
import { type Clock, type Stopwatch, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { continueWith } from '../core/maybe-promise.ts'
import type {
  CallAhead,
  Caller,
  Limits,
  PriceDemand,
  RateLimits,
  Slot,
  Spent,
  Ticket,
} from '../gateway/ports.ts'
import { KeyLease, type LeaseOutcome, type LeaseRefusal } from './key-lease.ts'
import {
  limitsUnavailable,
  tooManyConcurrent,
  tooManyRequests,
  tooManyTokens,
} from './limit-refusals.ts'
import { SharedUsage } from './shared-usage.ts'
import { type CallBuckets, toHeaders } from './token-bucket.ts'
import { Turns } from './turns.ts'
import { type Reservation, sizeOf } from './usage-counter.ts'
import type { BudgetReservations, UsageLimits } from './usage-limits.ts'

const TEND_MS = 250
/** Another node shows this node's usage a second later, however many accounts are active. */
const TOLD_WITHIN_ROUNDS = 4
/** How long an answer of the store is fresh enough for display. */
const LOOKED_AT_MS = 500
/** Spread over several rounds, so that nodes that reconnect together do not overload the store. */
const MAX_QUESTIONS_PER_ROUND = 200

export interface SharedLimitsOptions {
  readonly store: SharedStore
  /** Prefix of every key in the store. */
  readonly prefix: string
  readonly usage: UsageLimits
  readonly clock?: Clock & Stopwatch
  /** For tests; otherwise the store's own clock, which all nodes share. */
  readonly sharedClock?: Clock
}

export class SharedLimits implements Limits {
  readonly #store: SharedStore
  readonly #prefix: string
  readonly #usage: UsageLimits
  readonly #shared: SharedUsage
  readonly #clock: Clock & Stopwatch
  readonly #sharedNow: () => number
  readonly #leases = new Map<string, KeyLease>()
  readonly #tended = new Turns(this.#leases)
  #endTending: (() => void) | undefined

  constructor({ store, prefix, usage, clock = systemClock, sharedClock }: SharedLimitsOptions) {
    this.#store = store
    this.#prefix = prefix
    this.#usage = usage
    this.#clock = clock
    this.#sharedNow = () => sharedClock?.now() ?? 0
    const now = () => clock.elapsed()
    const wallNow = () => clock.now()
    this.#shared = new SharedUsage({
      store,
      prefix,
      usage,
      now,
      wallNow,
      sharedNow: this.#sharedNow,
    })
  }

  /** Keys with a running call, a lease or a debt, and a few idle ones. */
  get trackedKeys(): number {
    return this.#leases.size
  }

  start(): void {
    this.#endTending ??= systemClock.every(TEND_MS, () => this.tend())
  }

  /** Returns this node's leases. */
  async close(): Promise<void> {
    this.#endTending?.()
    const laterMs = this.#clock.elapsed() + 60_000
    for (const lease of this.#leases.values()) lease.tend(laterMs)
    this.#shared.tend(laterMs, Number.POSITIVE_INFINITY)
    await this.settled()
  }

  /** Resolves when the store knows the usage of ended calls, or is unavailable. Never rejects. */
  tell(): Promise<void> {
    return this.#shared.tell()
  }

  /**
   * Resolves when all nodes' usage of the account's quota and these budgets is known here, or the
   * store is unavailable. Never rejects.
   */
  async refresh(accountId: AccountId, budgetIds: readonly string[]): Promise<void> {
    const windows = this.#usage.windowsAt(accountId, budgetIds, this.#clock.now())
    await this.#shared.refresh(windows, LOOKED_AT_MS)
  }

  /** Decides by this node's own knowledge; the call's admission includes other nodes. */
  acquireSlot(caller: Caller): Slot {
    const { limits } = caller
    const key = this.#keyLeaseOf(caller)
    const account = this.#accountLeaseOf(caller)
    if (key === undefined && account === undefined) return NO_SLOT
    const refused = key?.acquireSlot(limits)
    if (refused !== undefined) throw toRefusal(refused, 'key', { key, account, caller, tokens: 0 })
    if (account !== undefined && limits.account !== undefined) {
      const ofAccount = account.acquireSlot(limits.account)
      if (ofAccount !== undefined) {
        key?.releaseSlot()
        throw toRefusal(ofAccount, 'account', { key, account, caller, tokens: 0 })
      }
    }
    return new LeasedSlot(key, account)
  }

  priceDemand(caller: Caller, gateId: string): PriceDemand | undefined {
    return this.#usage.priceDemand(caller, gateId)
  }

  limitsSpend(caller: Caller, gateId: string): boolean {
    return this.#usage.limitsSpend(caller, gateId)
  }

  whenReady(caller: Caller, gateId: string): Promise<void> | undefined {
    return this.#usage.whenCountedFor(caller, gateId)
  }

  /**
   * Immediate when this node holds what the call needs; otherwise a promise until the store
   * answers.
   * @throws GatewayError (or rejects with it) `rate_limited`, with `retry-after`, `retry-after-ms`
   * and the `x-ratelimit-*` headers; `quota_exceeded` naming the budget; `unavailable` when the
   * store is unavailable and the operator chose to refuse calls then
   */
  admit(caller: Caller, call: CallAhead): Ticket | Promise<Ticket> {
    const budgets = this.#shared.reserveBudgets(caller, call)
    return continueWith(budgets, (reserved) => this.#admitKey(caller, call, reserved))
  }

  #admitKey(
    caller: Caller,
    call: CallAhead,
    budgets: BudgetReservations,
  ): Ticket | Promise<Ticket> {
    const { limits } = caller
    const tokens = Math.min(sizeOf(call), limits.tokensPerMinute)
    const usage = this.#usage
    const key = this.#keyLeaseOf(caller)
    const account = this.#accountLeaseOf(caller)
    const admitted = { usage, shared: this.#shared, budgets, key, account, tokens, caller, call }
    // The key first, so that a flood refused by its own limits takes nothing from the account's
    // other keys.
    const outcome = key === undefined ? tokens : key.take(limits, tokens)
    return continueWith(outcome, (known) => admitAccount(admitted, known))
  }

  /** A round of upkeep, called by a timer. */
  tend(): void {
    const nowMs = this.#clock.elapsed()
    let questions = this.#shared.tend(nowMs, MAX_QUESTIONS_PER_ROUND / 2, TOLD_WITHIN_ROUNDS)
    for (let looked = this.#leases.size; looked > 0; looked -= 1) {
      const lease = this.#tended.next()
      if (lease === undefined) return
      if (lease.tend(nowMs)) questions += 1
      if (lease.isIdle && nowMs - lease.lastUsedMs > 60_000) this.#leases.delete(lease.id)
      if (questions >= MAX_QUESTIONS_PER_ROUND) return
    }
  }

  /** Resolves when no request to the store is in progress. */
  async settled(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.settled()))
    await this.#shared.settled()
  }

  #keyLeaseOf({ keyId, limits }: Caller): KeyLease | undefined {
    return hasLimits(limits) ? this.#leaseOf(keyId, 'key', limits) : undefined
  }

  #accountLeaseOf({ accountId, limits: { account } }: Caller): KeyLease | undefined {
    return account === undefined ? undefined : this.#leaseOf(accountId, 'account', account)
  }

  #leaseOf(id: string, kind: Holder, limits: RateLimits): KeyLease {
    const known = this.#leases.get(id)
    if (known !== undefined) return known
    const lease = new KeyLease({
      id,
      limits,
      store: this.#store,
      storeKey: `${this.#prefix}:${kind}:{${id}}`,
      now: () => this.#clock.elapsed(),
      sharedNow: this.#sharedNow,
    })
    this.#leases.set(id, lease)
    return lease
  }
}

type Holder = 'key' | 'account'

function hasLimits({ requestsPerMinute, tokensPerMinute, concurrentCalls }: RateLimits): boolean {
  return (
    Number.isFinite(requestsPerMinute) ||
    Number.isFinite(tokensPerMinute) ||
    Number.isFinite(concurrentCalls)
  )
}

/** Continues after the key's own limits have decided. */
function admitAccount(asked: Admitted, ofKey: LeaseOutcome): Ticket | Promise<Ticket> {
  if (typeof ofKey !== 'number') return refuse(asked, ofKey, 'key')
  const admitted = ofKey === asked.tokens ? asked : { ...asked, tokens: ofKey }
  const { account, caller } = admitted
  if (account === undefined || caller.limits.account === undefined)
    return new SharedTicket(admitted)
  const outcome = account.take(caller.limits.account, 0)
  const settle = (known: LeaseOutcome): Ticket => {
    if (typeof known === 'number') return new SharedTicket(admitted)
    admitted.key?.undo(admitted.tokens)
    return refuse(admitted, known, 'account')
  }
  return continueWith(outcome, settle)
}

/** @throws GatewayError */
function refuse(admitted: Admitted, outcome: LeaseRefusal, holder: Holder): never {
  admitted.usage.settleBudgets(admitted.budgets, NOTHING_USED)
  throw toRefusal(outcome, holder, admitted)
}

function toRefusal(
  outcome: LeaseRefusal,
  holder: Holder,
  { key, account, tokens, caller }: Pick<Admitted, 'key' | 'account' | 'tokens' | 'caller'>,
): GatewayError {
  const ofKey = bucketsOf(key)
  const buckets = { key: ofKey, account: bucketsOf(account) }
  const limits = holder === 'key' ? caller.limits : caller.limits.account
  if (outcome === 'requests') return tooManyRequests(holder, buckets)
  if (outcome === 'tokens' && ofKey !== undefined)
    return tooManyTokens({ ...buckets, key: ofKey }, Math.max(1, tokens), key?.running === 0)
  if (outcome === 'concurrent' && limits !== undefined)
    return tooManyConcurrent(holder, buckets, limits.concurrentCalls)
  return limitsUnavailable()
}

function bucketsOf(lease: KeyLease | undefined): CallBuckets['key'] {
  return lease && { requests: lease.requests.view, tokens: lease.tokens.view }
}

const NO_SLOT: Slot = { release: () => {} }

class LeasedSlot implements Slot {
  readonly #key: KeyLease | undefined
  readonly #account: KeyLease | undefined
  #hasLeft = false

  constructor(key: KeyLease | undefined, account: KeyLease | undefined) {
    this.#key = key
    this.#account = account
  }

  release(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#key?.releaseSlot()
    this.#account?.releaseSlot()
  }
}

const NOTHING_USED = { tokens: 0, nanoUsd: 0, isPriced: true }

interface Admitted {
  readonly usage: UsageLimits
  readonly shared: SharedUsage
  readonly budgets: BudgetReservations
  /** Undefined: the key has no limit. */
  readonly key: KeyLease | undefined
  /** Undefined: the account has no own limit. */
  readonly account: KeyLease | undefined
  /** The taken part of the tokens per minute. */
  readonly tokens: number
  readonly caller: Caller
  readonly call: CallAhead
}

class SharedTicket implements Ticket {
  #admitted: Admitted | undefined
  #quota: Reservation | undefined

  constructor(admitted: Admitted) {
    this.#admitted = admitted
  }

  get headers(): Record<string, string> {
    const { key, account } = this.#admitted ?? {}
    return toHeaders({ key: bucketsOf(key), account: bucketsOf(account) })
  }

  reserveQuota(): GatewayError | undefined | Promise<GatewayError | undefined> {
    if (this.#admitted === undefined || this.#quota !== undefined) return undefined
    const { shared, caller, call } = this.#admitted
    const keep = (reserved: Reservation | GatewayError): GatewayError | undefined => {
      if (reserved instanceof GatewayError) return reserved
      // The call has ended meanwhile.
      if (this.#admitted === undefined) reserved.settle(undefined)
      else this.#quota = reserved
      return undefined
    }
    const reserved = shared.reserveQuota(caller, call)
    return continueWith(reserved, keep)
  }

  settle(spent: Spent): void {
    if (this.#admitted === undefined) return
    const { key, account, tokens: taken, usage, budgets } = this.#admitted
    this.#admitted = undefined
    // Unknown usage keeps the reservation; otherwise a client that leaves early would call for
    // free.
    key?.giveBack(spent.tokens === null ? 0 : spent.tokens - taken)
    account?.giveBack(0)
    const { nanoUsd } = spent.cost
    const tokens = spent.tokens ?? 0
    const used = { tokens, nanoUsd: nanoUsd ?? 0, isPriced: nanoUsd !== null || tokens === 0 }
    this.#quota?.settle(spent.countsForQuota ? used : undefined)
    usage.settleBudgets(budgets, used)
  }
}

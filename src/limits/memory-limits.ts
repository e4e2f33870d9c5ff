/**
 * Limits in this process's memory: requests and tokens per minute and concurrent calls of each key,
 * the same per account if its plan has them, then the quotas and budgets of usage-limits.ts. Must
 * not know HTTP, where plans come from, or other nodes.
 */
import { type Stopwatch, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
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
import { tooManyConcurrent, tooManyRequests, tooManyTokens } from './limit-refusals.ts'
import { TokenBucket, toHeaders } from './token-bucket.ts'
import { type Reservation, sizeOf } from './usage-counter.ts'
import { UsageLimits } from './usage-limits.ts'

/**
 * Each admission examines two states for each that it may have added, so that idle ones are removed
 * faster than new ones appear.
 */
const SWEPT_FOR_EACH = 2

/** For a key, or for all keys of an account. */
interface RateState {
  readonly id: string
  readonly requests: TokenBucket
  readonly tokens: TokenBucket
  running: number
  /** Calls whose bodies have not arrived yet. */
  slots: number
}

/**
 * Token buckets as in OpenAI's API (token-bucket.ts). A refused request takes nothing. Tokens are
 * taken by estimate, at most a full bucket, and corrected when the call's usage is known. A key
 * that used more than it had is in debt: until that is paid, its calls run one at a time (decision
 * 0100).
 */
export class MemoryLimits implements Limits {
  readonly #clock: Stopwatch
  readonly #usage: UsageLimits
  readonly #states = new Map<string, RateState>()
  #sweep: Iterator<RateState> = this.#states.values()

  constructor(
    clock: Stopwatch = systemClock,
    usage: UsageLimits = new UsageLimits({ plans: createPlans() }),
  ) {
    this.#clock = clock
    this.#usage = usage
  }

  /**
   * The number of keys (and limited accounts) in memory: those with a running call or a bucket that
   * is not full, and a few idle ones.
   */
  get trackedKeys(): number {
    return this.#states.size
  }

  acquireSlot({ accountId, keyId, limits }: Caller, nowMs: number): Slot {
    const key = this.#stateOf(keyId, limits, nowMs)
    const account = limits.account && this.#accountState(accountId, limits.account, nowMs)
    key.requests.refill(limits.requestsPerMinute, nowMs)
    if (!key.requests.holds(1)) throw tooManyRequests('key', { key, account })
    if (key.running + key.slots >= limits.concurrentCalls)
      throw tooManyConcurrent('key', { key, account }, limits.concurrentCalls)
    if (account !== undefined && limits.account !== undefined) {
      if (!account.requests.holds(1)) throw tooManyRequests('account', { key, account })
      if (account.running + account.slots >= limits.account.concurrentCalls)
        throw tooManyConcurrent('account', { key, account }, limits.account.concurrentCalls)
    }
    return new MemorySlot(key, account)
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
   * @throws GatewayError `rate_limited`, with `retry-after`, `retry-after-ms` and the
   * `x-ratelimit-*` headers, or `quota_exceeded` naming the budget
   */
  admit(caller: Caller, call: CallAhead): Ticket {
    const nowMs = this.#clock.elapsed()
    const { limits, keyId, accountId } = caller
    this.#sweepIdle(nowMs, limits.account === undefined ? SWEPT_FOR_EACH : 2 * SWEPT_FOR_EACH)
    const key = this.#stateOf(keyId, limits, nowMs)
    const account = limits.account && this.#accountState(accountId, limits.account, nowMs)
    key.requests.refill(limits.requestsPerMinute, nowMs)
    key.tokens.refill(limits.tokensPerMinute, nowMs)
    this.#usage.assertWithinBudgets(caller, call)
    if (!key.requests.holds(1)) throw tooManyRequests('key', { key, account })
    if (key.running >= limits.concurrentCalls)
      throw tooManyConcurrent('key', { key, account }, limits.concurrentCalls)
    // A call that needs more than a minute's tokens could never run, so it waits for a full bucket.
    const size = Math.min(sizeOf(call), limits.tokensPerMinute)
    const isAlone = key.running === 0
    const needed = Math.max(1, size)
    if (!key.tokens.holds(needed) && !(isAlone && key.tokens.lends(needed)))
      throw tooManyTokens({ key, account }, needed, isAlone)
    const tokens = key.tokens.takable(size)
    if (account !== undefined && limits.account !== undefined) {
      if (!account.requests.holds(1)) throw tooManyRequests('account', { key, account })
      if (account.running >= limits.account.concurrentCalls)
        throw tooManyConcurrent('account', { key, account }, limits.account.concurrentCalls)
      account.requests.charge(1)
      account.running += 1
    }
    key.requests.charge(1)
    key.tokens.charge(tokens)
    key.running += 1
    return new MemoryTicket(this.#usage, { key, account, tokens, caller, call })
  }

  #accountState(accountId: AccountId, limits: RateLimits, nowMs: number): RateState {
    const state = this.#stateOf(`account ${accountId}`, limits, nowMs)
    state.requests.refill(limits.requestsPerMinute, nowMs)
    return state
  }

  #stateOf(id: string, limits: RateLimits, nowMs: number): RateState {
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const requests = new TokenBucket(limits.requestsPerMinute, nowMs)
    const tokens = new TokenBucket(limits.tokensPerMinute, nowMs)
    const state = { id, requests, tokens, running: 0, slots: 0 }
    this.#states.set(id, state)
    return state
  }

  /** Drops states equal to new ones, a few at a time, which avoids a timer and long pauses. */
  #sweepIdle(nowMs: number, most: number): void {
    for (let looked = 0; looked < most; looked += 1) {
      const { value: state, done } = this.#sweep.next()
      if (done === true) {
        this.#sweep = this.#states.values()
        return
      }
      if (state.running + state.slots > 0) continue
      state.requests.refill(state.requests.perMinute, nowMs)
      state.tokens.refill(state.tokens.perMinute, nowMs)
      if (state.requests.isFull && state.tokens.isFull) this.#states.delete(state.id)
    }
  }
}

class MemorySlot implements Slot {
  #key: RateState | undefined
  readonly #account: RateState | undefined

  constructor(key: RateState, account: RateState | undefined) {
    this.#key = key
    this.#account = account
    key.slots += 1
    if (account !== undefined) account.slots += 1
  }

  release(): void {
    if (this.#key === undefined) return
    this.#key.slots -= 1
    if (this.#account !== undefined) this.#account.slots -= 1
    this.#key = undefined
  }
}

interface Admitted {
  readonly key: RateState
  /** Undefined: the account has no own limits. */
  readonly account: RateState | undefined
  /** The taken part of the tokens per minute. */
  readonly tokens: number
  readonly caller: Caller
  readonly call: CallAhead
}

class MemoryTicket implements Ticket {
  readonly #usage: UsageLimits
  readonly #key: RateState
  readonly #account: RateState | undefined
  readonly #tokens: number
  readonly #caller: Caller
  /** Undefined once its part of the quota is reserved. */
  #ahead: CallAhead | undefined
  readonly #budgets: ReturnType<UsageLimits['reserveBudgets']>
  #quota: Reservation | undefined
  #isSettled = false

  constructor(usage: UsageLimits, { key, account, tokens, caller, call }: Admitted) {
    this.#usage = usage
    this.#key = key
    this.#account = account
    this.#tokens = tokens
    this.#caller = caller
    this.#ahead = call
    this.#budgets = usage.reserveBudgets(caller, call)
  }

  get headers(): Record<string, string> {
    return toHeaders({ key: this.#key, account: this.#account })
  }

  reserveQuota(): GatewayError | undefined {
    if (this.#isSettled || this.#ahead === undefined) return undefined
    const reserved = this.#usage.reserveQuota(this.#caller, this.#ahead)
    if (reserved instanceof GatewayError) return reserved
    this.#quota = reserved
    this.#ahead = undefined
    return undefined
  }

  settle(spent: Spent): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const key = this.#key
    key.running -= 1
    if (this.#account !== undefined) this.#account.running -= 1
    // Unknown usage keeps the reservation; otherwise a client that leaves early would call for
    // free.
    if (spent.tokens !== null && spent.tokens !== this.#tokens) {
      key.tokens.refill(key.tokens.perMinute, spent.endedAtMs)
      key.tokens.charge(spent.tokens - this.#tokens)
    }
    const { nanoUsd } = spent.cost
    const tokens = spent.tokens ?? 0
    const used = { tokens, nanoUsd: nanoUsd ?? 0, isPriced: nanoUsd !== null || tokens === 0 }
    this.#quota?.settle(spent.countsForQuota ? used : undefined)
    this.#usage.settleBudgets(this.#budgets, used)
  }
}

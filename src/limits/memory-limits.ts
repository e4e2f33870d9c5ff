import { type Stopwatch, systemClock } from '../core/clock.ts'
import { createPlans } from '../core/plan.ts'
import type { RateLimits } from '../gateway/ports.ts'
import { CallLimits, type RateStorage } from './call-limits.ts'
import type { Holder } from './limit-refusals.ts'
import { type RateOutcome, type RateRefusal, Rates } from './rates.ts'
import { RoundRobin } from './round-robin.ts'
import { TokenBucket } from './token-bucket.ts'
import { UsageLimits } from './usage-limits.ts'

const SWEPT_FOR_EACH = 2

export class MemoryLimits extends CallLimits {
  readonly #states: MemoryStates

  constructor(
    clock: Stopwatch = systemClock,
    usage: UsageLimits = new UsageLimits({ plans: createPlans() }),
  ) {
    const rates = new MemoryStates()
    super({ clock, usage, rates, reservations: usage })
    this.#states = rates
  }

  /**
   * Keys and accounts in memory: all with a running call or a bucket that is not full, and a few
   * idle keys and accounts.
   */
  get trackedKeys(): number {
    return this.#states.size
  }
}

class MemoryStates implements RateStorage {
  readonly #states = new Map<string, MemoryRates>()
  readonly #swept = new RoundRobin(this.#states)

  get size(): number {
    return this.#states.size
  }

  find(_: Holder, id: string, limits: RateLimits, nowMs: number): MemoryRates {
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const state = new MemoryRates(id, limits, nowMs)
    this.#states.set(id, state)
    return state
  }

  /** Forgets a few idle states per admission, without a timer or a long pause. */
  sweep(nowMs: number, added: number): void {
    const most = Math.min(SWEPT_FOR_EACH * added, this.#states.size)
    for (let looked = 0; looked < most; looked += 1) {
      const state = this.#swept.next()
      if (state?.isLikeNew(nowMs) === true) this.#states.delete(state.id)
    }
  }
}

class MemoryRates extends Rates<TokenBucket> {
  constructor(id: string, limits: RateLimits, nowMs: number) {
    const requests = new TokenBucket(limits.requestsPerMinute, nowMs)
    const tokens = new TokenBucket(limits.tokensPerMinute, nowMs)
    super(id, limits, requests, tokens)
  }

  isLikeNew(nowMs: number): boolean {
    if (this.running + this.slots > 0) return false
    this.refill(nowMs)
    return this.requests.isFull && this.tokens.isFull
  }

  acquireSlot(limits: RateLimits, nowMs: number): RateRefusal | undefined {
    this.limits = limits
    this.requests.refill(limits.requestsPerMinute, nowMs)
    const lacking = this.lackingForSlot(nowMs)
    if (lacking === undefined) this.slots += 1
    return lacking
  }

  take(limits: RateLimits, tokens: number, nowMs: number): RateOutcome {
    this.limits = limits
    this.refill(nowMs)
    const lacking = this.lackingFor(tokens, nowMs)
    return lacking === undefined || lacking === 'ask' ? this.admit(tokens) : lacking
  }

  giveBack(extraTokens: number, nowMs: number): void {
    this.running -= 1
    if (extraTokens === 0) return
    this.tokens.refill(this.limits.tokensPerMinute, nowMs)
    this.tokens.charge(extraTokens)
  }
}

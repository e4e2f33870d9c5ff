/**
 * The rules for requests per minute, tokens per minute and concurrent calls of a key, or of an
 * account's keys together, for both storages: memory (memory-limits.ts) and leases from a shared
 * store (key-lease.ts).
 */
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { RateLimits } from '../gateway/ports.ts'
import type { Availability, RateBucket } from './token-bucket.ts'

export type LimitName = 'requests' | 'concurrent' | 'tokens'
export type RateRefusal = 'unavailable' | LimitName
export type RateOutcome = number | RateRefusal

export abstract class Rates<Bucket extends RateBucket = RateBucket> {
  readonly id: string
  readonly requests: Bucket
  readonly tokens: Bucket
  protected limits: RateLimits
  running = 0
  /** Calls whose bodies are not read yet. */
  protected slots = 0

  constructor(id: string, limits: RateLimits, requests: Bucket, tokens: Bucket) {
    this.id = id
    this.limits = limits
    this.requests = requests
    this.tokens = tokens
  }

  /**
   * Acquires a slot for a call before its admission, without asking a store.
   * @returns undefined when acquired
   */
  abstract acquireSlot(limits: RateLimits, nowMs: number): RateRefusal | undefined

  releaseSlot(): void {
    this.slots -= 1
  }

  /**
   * Admits a call. Returns a promise only when a store has to be asked.
   * @param tokens no more than a full bucket holds
   */
  abstract take(limits: RateLimits, tokens: number, nowMs: number): MaybePromise<RateOutcome>

  /**
   * Ends a call.
   * @param extraTokens tokens used beyond the taken tokens; negative for unused tokens
   */
  abstract giveBack(extraTokens: number, nowMs: number): void

  /** Reverts `take` for a call that another limit refuses. */
  undo(tokens: number, nowMs: number): void {
    this.requests.charge(-1)
    this.giveBack(-tokens, nowMs)
  }

  protected refill(nowMs: number): void {
    this.requests.refill(this.limits.requestsPerMinute, nowMs)
    this.tokens.refill(this.limits.tokensPerMinute, nowMs)
  }

  protected lackingForSlot(nowMs: number): LimitName | undefined {
    if (this.requests.has(1, nowMs) === 'no') return 'requests'
    return this.running + this.slots >= this.limits.concurrentCalls ? 'concurrent' : undefined
  }

  protected lackingFor(tokens: number, nowMs: number): LimitName | 'ask' | undefined {
    const request = this.requests.has(1, nowMs)
    if (request === 'no') return 'requests'
    const slot = this.hasSlot(nowMs)
    if (slot === 'no') return 'concurrent'
    const enough = this.tokens.has(Math.max(1, tokens), nowMs, this.running === 0)
    if (enough === 'no') return 'tokens'
    return request === 'ask' || slot === 'ask' || enough === 'ask' ? 'ask' : undefined
  }

  protected hasSlot(_nowMs: number): Availability {
    return this.running < this.limits.concurrentCalls ? 'yes' : 'no'
  }

  protected admit(tokens: number): number {
    this.requests.charge(1)
    this.running += 1
    return this.tokens.take(tokens)
  }
}

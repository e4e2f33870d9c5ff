/**
 * The limits of a key, or of an account's keys together, on this node: leased parts of the shared
 * buckets and slots. At most one request to the store is open at a time.
 */

import type { SharedStore } from '../cluster/shared-store.ts'
import type { RateLimits } from '../gateway/ports.ts'
import { KEY_SCRIPT, type KeyDemand, readKeyGrant, toKeyArguments } from './key-script.ts'
import { FRESH_MS, LeasedBucket } from './leased-bucket.ts'
import { type LimitName, type RateOutcome, type RateRefusal, Rates } from './rates.ts'
import type { Availability } from './token-bucket.ts'

/** How long the slots of a dead node stay taken. */
const SLOTS_LEASE_MS = 15_000
/**
 * A node that has not renewed its slots for this long asks before using a slot, because other nodes
 * may have taken the slots.
 */
const SLOTS_TRUSTED_MS = 10_000
const RENEW_MS = 5_000
const LARGEST_SPARE = 1 / 16
/** Leased tokens that stay unused for this long are returned. */
const UNUSED_MS = 400
/** A call is refused after this many empty grants. */
const MAX_ROUNDS = 3

interface Waiter {
  readonly tokens: number
  readonly resolve: (outcome: RateOutcome) => void
  rounds: number
}

export interface KeyLeaseOptions {
  readonly id: string
  readonly limits: RateLimits
  readonly store: SharedStore
  readonly storeKey: string
  /** Milliseconds of this node's clock, for durations. */
  readonly now: () => number
  readonly sharedNow: () => number
}

export class KeyLease extends Rates<LeasedBucket> {
  readonly #options: KeyLeaseOptions
  #leasedSlots = 0
  #slotsRenewedAtMs = Number.NEGATIVE_INFINITY
  #birth = ''
  #nodes = 1
  #isAlone = false
  #waiting: Waiter[] = []
  #pending: Promise<void> | undefined
  #hasChanges = false
  #wereSlotsFull = false
  #lastUsedMs: number

  constructor(options: KeyLeaseOptions) {
    const { id, limits, now } = options
    const nowMs = now()
    const requests = new LeasedBucket(limits.requestsPerMinute, nowMs)
    const tokens = new LeasedBucket(limits.tokensPerMinute, nowMs)
    super(id, limits, requests, tokens)
    this.#options = options
    this.#lastUsedMs = nowMs
  }

  /** Whether a new object would have the same state, so that this object may be deleted. */
  get isIdle(): boolean {
    const isQuiet =
      this.running + this.slots === 0 && this.#leasedSlots === 0 && this.#pending === undefined
    return isQuiet && this.requests.isSettled && this.tokens.isSettled
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs
  }

  async settled(): Promise<void> {
    while (this.#pending !== undefined) await this.#pending
  }

  acquireSlot(limits: RateLimits): RateRefusal | undefined {
    this.limits = limits
    const nowMs = this.#options.now()
    this.#lastUsedMs = nowMs
    this.refill(nowMs)
    const { mode } = this.#options.store
    if (mode === 'closed') return 'unavailable'
    const lacking = mode === 'open' ? undefined : this.lackingForSlot(nowMs)
    if (lacking === undefined) this.slots += 1
    return lacking
  }

  take(limits: RateLimits, tokens: number): RateOutcome | Promise<RateOutcome> {
    this.limits = limits
    const nowMs = this.#options.now()
    this.#lastUsedMs = nowMs
    if (this.#waiting.length === 0) {
      const outcome = this.#attempt(tokens, nowMs)
      const isTaken = typeof outcome === 'number'
      if (isTaken && (this.requests.isLow || this.tokens.isLow || this.#slotsAreLow)) this.#ask()
      if (outcome !== 'ask') return outcome
    }
    return new Promise((resolve) => {
      this.#waiting.push({ tokens, resolve, rounds: 0 })
      this.#ask()
    })
  }

  override undo(tokens: number, nowMs: number): void {
    this.refill(nowMs)
    super.undo(tokens, nowMs)
  }

  giveBack(extraTokens: number): void {
    const nowMs = this.#options.now()
    this.running -= 1
    this.#lastUsedMs = nowMs
    if (extraTokens !== 0) {
      this.refill(nowMs)
      this.tokens.charge(extraTokens)
    }
    if (this.#options.store.mode !== 'shared') return
    const hasSpare = this.#leasedSlots - this.running > 2 * this.#spare
    if (!(hasSpare && this.#isWaitedFor) && !this.tokens.isOff) return
    // The pending answer is older than this change, so another request follows.
    this.#hasChanges = true
    this.#ask()
  }

  /**
   * Called by a timer: returns unused units, renews used units, reports debts.
   * @returns whether a request was sent to the store
   */
  tend(nowMs: number): boolean {
    if (this.#options.store.mode !== 'shared' || this.#pending !== undefined) return false
    this.refill(nowMs)
    const hasSlots = this.#countsCalls && this.#leasedSlots + this.running > 0
    const isOld = hasSlots && nowMs - this.#slotsRenewedAtMs >= RENEW_MS
    const isUnused = nowMs - this.#lastUsedMs >= UNUSED_MS
    const hasSpare =
      this.#leasedSlots > this.running || !this.requests.isSettled || !this.tokens.isSettled
    if (!isOld && !(isUnused && hasSpare)) return false
    this.#ask()
    return true
  }

  protected override refill(nowMs: number): void {
    const { mode, nodes } = this.#options.store
    const { requestsPerMinute, tokensPerMinute } = this.limits
    if (mode === 'shared' && this.#isAlone) {
      this.#isAlone = false
      this.requests.rejoin(requestsPerMinute, nowMs)
      this.tokens.rejoin(tokensPerMinute, nowMs)
      // The store may have lost this node's slots, so this node asks again before it uses a slot.
      this.#slotsRenewedAtMs = Number.NEGATIVE_INFINITY
    } else if (mode !== 'shared' && !this.#isAlone) {
      this.#isAlone = true
      this.#nodes = nodes
      this.requests.leave(nodes, nowMs)
      this.tokens.leave(nodes, nowMs)
    }
    super.refill(nowMs)
  }

  #attempt(tokens: number, nowMs: number): RateOutcome | 'ask' {
    this.refill(nowMs)
    const { mode } = this.#options.store
    if (mode === 'closed') return 'unavailable'
    const lacking = mode === 'open' ? undefined : this.lackingFor(tokens, nowMs)
    return lacking ?? this.admit(tokens)
  }

  protected override hasSlot(nowMs: number): Availability {
    const { concurrentCalls } = this.limits
    if (concurrentCalls === Number.POSITIVE_INFINITY) return 'yes'
    if (this.#isAlone)
      return this.running < slotsAlone(concurrentCalls, this.#options.store.nodes) ? 'yes' : 'no'
    const ageMs = nowMs - this.#slotsRenewedAtMs
    if (this.running < this.#leasedSlots && ageMs < SLOTS_TRUSTED_MS) return 'yes'
    if (this.running >= concurrentCalls) return 'no'
    return ageMs < FRESH_MS && this.#wereSlotsFull ? 'no' : 'ask'
  }

  get #countsCalls(): boolean {
    const { concurrentCalls, tokensPerMinute } = this.limits
    return Number.isFinite(concurrentCalls) || Number.isFinite(tokensPerMinute)
  }

  get #isWaitedFor(): boolean {
    return Number.isFinite(this.limits.concurrentCalls) || this.tokens.view.parts < 0
  }

  get #spare(): number {
    const { concurrentCalls } = this.limits
    if (!Number.isFinite(concurrentCalls)) return 0
    return Math.min(Math.floor(concurrentCalls * LARGEST_SPARE), this.requests.pace)
  }

  get #slotsAreLow(): boolean {
    return (
      this.#spare > 0 && this.#leasedSlots - this.running < this.#spare / 2 && !this.#wereSlotsFull
    )
  }

  #ask(): void {
    if (this.#pending !== undefined) return
    this.#pending = this.#exchange().finally(() => {
      this.#pending = undefined
      if (this.#waiting.length > 0 || this.#hasChanges) this.#ask()
    })
  }

  async #exchange(): Promise<void> {
    const { store, storeKey, now, sharedNow } = this.#options
    const nowMs = now()
    this.#hasChanges = false
    this.refill(nowMs)
    if (store.mode === 'shared') {
      const demand = this.#demand(nowMs, sharedNow())
      // Calls continue to take slots during the request, but no more than the request asks for.
      this.#leasedSlots = Math.min(this.#leasedSlots, demand.slots.wanted)
      try {
        const grant = readKeyGrant(await store.run(KEY_SCRIPT, storeKey, toKeyArguments(demand)))
        this.refill(now())
        this.#birth = grant.birth
        this.#nodes = store.nodes
        // The answer reflects the time of the request. Units returned since then may count twice,
        // which admits no call.
        this.requests.accept(grant.requests, demand.requests, nowMs)
        this.tokens.accept(grant.tokens, demand.tokens, nowMs)
        this.#leasedSlots = grant.slots
        this.#slotsRenewedAtMs = nowMs
        this.#wereSlotsFull = grant.slots < demand.slots.wanted
        this.#serveWaiting()
        // A call that another limit refused returns its grant immediately.
        if (this.#waiting.length === 0)
          this.#hasChanges = this.requests.isOff || this.tokens.isOff || this.#hasChanges
        return
      } catch {
        // The store has recorded the failure and is unavailable from now on.
        this.requests.fail(demand.requests)
        this.tokens.fail(demand.tokens)
      }
    }
    this.#serveWaiting()
  }

  #demand(nowMs: number, sharedNowMs: number): KeyDemand {
    const { store } = this.#options
    const tokens = this.#waiting.map((waiter) => Math.max(1, waiter.tokens))
    const calls = this.#waiting.length
    for (const waiter of this.#waiting) waiter.rounds += 1
    const all = tokens.reduce((sum, each) => sum + each, 0)
    const { concurrentCalls } = this.limits
    const wanted = Math.min(concurrentCalls, this.running + calls + this.#spare)
    return {
      nodeId: store.nodeId,
      nowMs: sharedNowMs,
      leaseMs: SLOTS_LEASE_MS,
      birth: this.#birth,
      nodes: this.#nodes,
      requests: this.requests.demand({ all: calls, first: Math.min(1, calls) }, this.#nodes, nowMs),
      tokens: this.tokens.demand(
        { all, first: tokens[0] ?? 0, isAlone: this.running === 0 },
        this.#nodes,
        nowMs,
      ),
      slots: {
        limit: concurrentCalls,
        wanted: this.#countsCalls ? Math.max(wanted, this.running) : 0,
        running: this.running,
      },
    }
  }

  /**
   * Waiting calls are served in order of arrival. A call without a grant asks again, a few times.
   */
  #serveWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const waiter of waiting) {
      const outcome = this.#attempt(waiter.tokens, this.#options.now())
      if (outcome !== 'ask') waiter.resolve(outcome)
      else if (waiter.rounds < MAX_ROUNDS) this.#waiting.push(waiter)
      else waiter.resolve(this.#lacking(waiter.tokens))
    }
  }

  #lacking(tokens: number): LimitName {
    const nowMs = this.#options.now()
    if (this.requests.has(1, nowMs) !== 'yes') return 'requests'
    if (this.hasSlot(nowMs) !== 'yes') return 'concurrent'
    const isAlone = this.running === 0
    return this.tokens.has(Math.max(1, tokens), nowMs, isAlone) === 'yes' ? 'requests' : 'tokens'
  }
}

function slotsAlone(concurrentCalls: number, nodes: number): number {
  return concurrentCalls <= 0 ? 0 : Math.max(1, Math.floor(concurrentCalls / nodes))
}

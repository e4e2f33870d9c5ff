/**
 * Limits that all nodes keep together: rates are leased from the shared store in small parts
 * (key-lease.ts), quotas and budgets are counted there (shared-usage.ts).
 */
import type { SharedStore } from '../cluster/shared-store.ts'
import { type Clock, type Stopwatch, systemClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import type { RateLimits } from '../gateway/ports.ts'
import { CallLimits, type RateStorage } from './call-limits.ts'
import { KeyLease } from './key-lease.ts'
import type { Holder } from './limit-refusals.ts'
import { RoundRobin } from './round-robin.ts'
import { SharedUsage } from './shared-usage.ts'
import type { UsageLimits } from './usage-limits.ts'

const TEND_MS = 250
/** Other nodes show this node's usage within a second, whatever the number of active accounts. */
const REPORTED_WITHIN_ROUNDS = 4
/** How long an answer of the store is fresh enough for display. */
const DISPLAY_FRESH_MS = 500
/**
 * The reports are spread over several rounds, so that nodes that reconnect together do not overload
 * the store.
 */
const MAX_QUESTIONS_PER_ROUND = 200

export interface SharedLimitsOptions {
  readonly store: SharedStore
  readonly prefix: string
  readonly usage: UsageLimits
  readonly clock?: Clock & Stopwatch
  /** A clock for tests. Undefined: the store's own clock, which all nodes share. */
  readonly sharedClock?: Clock
}

type Clocks = Clock & Stopwatch

export class SharedLimits extends CallLimits {
  readonly #usage: UsageLimits
  readonly #shared: SharedUsage
  readonly #leases: KeyLeases
  readonly #clock: Clocks
  #endTending: (() => void) | undefined

  constructor({ store, prefix, usage, clock = systemClock, sharedClock }: SharedLimitsOptions) {
    const now = () => clock.elapsed()
    const wallNow = () => clock.now()
    const sharedNow = () => sharedClock?.now() ?? 0
    const rates = new KeyLeases({ store, prefix, now, sharedNow })
    const reservations = new SharedUsage({ store, prefix, usage, now, wallNow, sharedNow })
    super({ clock, usage, rates, reservations })
    this.#usage = usage
    this.#shared = reservations
    this.#leases = rates
    this.#clock = clock
  }

  get trackedKeys(): number {
    return this.#leases.size
  }

  start(): void {
    this.#endTending ??= systemClock.every(TEND_MS, () => this.tend())
  }

  async close(): Promise<void> {
    this.#endTending?.()
    const laterMs = this.#clock.elapsed() + 60_000
    this.#leases.tendAll(laterMs)
    this.#shared.tend(laterMs, Number.POSITIVE_INFINITY)
    await this.settled()
  }

  /** Resolves when the store knows what ended calls used, or is unavailable. Never rejects. */
  flush(): Promise<void> {
    return this.#shared.flush()
  }

  /**
   * Resolves when this node knows all nodes' use of the account's quota and of these budgets, or
   * the store is unavailable. Never rejects.
   */
  async refresh(accountId: AccountId, budgetIds: readonly string[]): Promise<void> {
    const windows = this.#usage.windowsAt(accountId, budgetIds, this.#clock.now())
    await this.#shared.refresh(windows, DISPLAY_FRESH_MS)
  }

  tend(): void {
    const nowMs = this.#clock.elapsed()
    const questions = this.#shared.tend(nowMs, MAX_QUESTIONS_PER_ROUND / 2, REPORTED_WITHIN_ROUNDS)
    this.#leases.tend(nowMs, MAX_QUESTIONS_PER_ROUND - questions)
  }

  async settled(): Promise<void> {
    await this.#leases.settled()
    await this.#shared.settled()
  }
}

interface KeyLeasesOptions {
  readonly store: SharedStore
  readonly prefix: string
  readonly now: () => number
  readonly sharedNow: () => number
}

class KeyLeases implements RateStorage {
  readonly #options: KeyLeasesOptions
  readonly #leases = new Map<string, KeyLease>()
  readonly #tended = new RoundRobin(this.#leases)

  constructor(options: KeyLeasesOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#leases.size
  }

  find(holder: Holder, id: string, limits: RateLimits): KeyLease {
    const known = this.#leases.get(id)
    if (known !== undefined) return known
    const { prefix, ...options } = this.#options
    const lease = new KeyLease({ ...options, id, limits, storeKey: `${prefix}:${holder}:{${id}}` })
    this.#leases.set(id, lease)
    return lease
  }

  sweep(): void {}

  tend(nowMs: number, maxQuestions: number): void {
    let questions = 0
    for (let looked = this.#leases.size; looked > 0; looked -= 1) {
      const lease = this.#tended.next()
      if (lease === undefined) return
      if (lease.tend(nowMs)) questions += 1
      if (lease.isIdle && nowMs - lease.lastUsedMs > 60_000) this.#leases.delete(lease.id)
      if (questions >= maxQuestions) return
    }
  }

  tendAll(nowMs: number): void {
    for (const lease of this.#leases.values()) lease.tend(nowMs)
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.settled()))
  }
}

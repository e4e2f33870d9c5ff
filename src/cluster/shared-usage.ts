/**
 * Quotas and budgets that all nodes count together: UsageLimits decides, once the store has let this node set aside what the
 * call may use. Must not know HTTP, rates per minute, or which store it is.
 */
import { GatewayError } from '../core/errors.ts'
import type { CallAhead, Caller } from '../gateway/ports.ts'
import { limitsUnavailable, reservedElsewhere } from './limit-refusals.ts'
import type { SharedStore } from './shared-store.ts'
import type { Reservation, UsageWindow } from './usage-counter.ts'
import { UsageLease } from './usage-lease.ts'
import type { BudgetReservations, LimitedWindow, UsageLimits } from './usage-limits.ts'
import type { Used } from './usage-script.ts'

const MAX_ROUNDS = 3

export interface SharedUsageOptions {
  readonly store: SharedStore
  readonly prefix: string
  readonly usage: UsageLimits
  readonly now: () => number
  readonly sharedNow: () => number
}

export class SharedUsage {
  readonly #options: SharedUsageOptions
  readonly #usage: UsageLimits
  readonly #leases = new Map<UsageWindow, UsageLease>()
  readonly #floors = new WeakMap<UsageWindow, Used>()

  constructor(options: SharedUsageOptions) {
    this.#options = options
    this.#usage = options.usage
    options.usage.shareWith({ countPast: (window, past) => this.#countPast(window, past) })
  }

  /** @throws GatewayError (or rejects with it) `quota_exceeded`; `rate_limited` while all of the rest is reserved */
  reserveBudgets(caller: Caller, call: CallAhead): BudgetReservations | Promise<BudgetReservations> {
    const windows = this.#usage.budgetWindowsFor(caller, call)
    if (windows.length === 0) return this.#usage.reserveBudgets(caller, call)
    return this.#reserve(windows, call, () => {
      if (this.#options.store.mode !== 'open') this.#usage.assertWithinBudgets(caller, call)
      return this.#usage.reserveBudgets(caller, call)
    })
  }

  /** As UsageLimits has it, though perhaps only once the store has answered. */
  reserveQuota(
    caller: Caller,
    call: CallAhead,
  ): Reservation | GatewayError | undefined | Promise<Reservation | GatewayError | undefined> {
    const quota = this.#usage.quotaWindowFor(caller, call)
    if (quota === undefined) return undefined
    const decide = () => {
      const reserved = this.#usage.reserveQuota(caller, call, this.#options.store.mode === 'open')
      if (reserved instanceof GatewayError) throw reserved
      return reserved
    }
    const toRefusal = (error: unknown) => {
      if (error instanceof GatewayError) return error
      throw error
    }
    try {
      const reserved = this.#reserve([quota], call, decide)
      return reserved instanceof Promise ? reserved.catch(toRefusal) : reserved
    } catch (error) {
      return toRefusal(error)
    }
  }

  /** Tells the store what was used, and gives back what is not. @returns how many questions that took */
  tend(nowMs: number, maxQuestions: number): number {
    let questions = 0
    for (const [window, lease] of this.#leases) {
      if (questions >= maxQuestions) break
      if (lease.tend(nowMs)) questions += 1
      else if (lease.isOver(nowMs)) this.#leases.delete(window)
    }
    return questions
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.settled()))
  }

  #reserve<Reserved>(
    windows: readonly LimitedWindow[],
    call: CallAhead,
    decide: () => Reserved,
  ): Reserved | Promise<Reserved> {
    const leases = windows.map((limited) => this.#leaseOf(limited))
    const attempt = (isLast: boolean): { readonly reserved: Reserved } | Promise<unknown> => {
      const { mode } = this.#options.store
      const nowMs = this.#options.now()
      const limited = windows.filter(({ limit }) => Object.values(limit()).some(Number.isFinite))
      if (mode === 'closed' && limited.length > 0) throw limitsUnavailable()
      const wanted = windows.map(({ window }) => ({
        tokens: Math.max(1, call.estimatedTokens),
        microUsd: Math.max(1, window.estimateMicroUsd(call.estimatedTokens)),
      }))
      const uncovered = leases.flatMap((lease, index) => {
        const pair = wanted[index]
        return pair === undefined || mode === 'open' || lease.covers(pair, nowMs) ? [] : [{ lease, pair }]
      })
      const mayAsk = mode === 'shared' && !isLast
      try {
        if (uncovered.length === 0) {
          const reserved = decide()
          for (const [index, lease] of leases.entries()) lease.noteTaken(wanted[index] ?? NONE, nowMs)
          return { reserved }
        }
        // What is used up stays so, and what was all reserved a moment ago need not be asked again.
        for (const [index, { window, shortage }] of windows.entries()) {
          const lacking = shortage(window)
          const isSure = lacking === 'exhausted' || leases[index]?.isFresh(nowMs) === true
          if (lacking !== undefined && isSure) decide()
        }
      } catch (error) {
        const isPassing = error instanceof GatewayError && error.kind === 'rate_limited'
        if (!isPassing || !mayAsk || leases.every((lease) => lease.isFresh(nowMs))) throw error
      }
      if (!mayAsk) throw reservedElsewhere()
      const asked =
        uncovered.length > 0
          ? uncovered
          : leases.map((lease, index) => ({ lease, pair: wanted[index] ?? NONE }))
      return Promise.all(asked.map(({ lease, pair }) => lease.ask(pair)))
    }
    const first = attempt(false)
    if (!(first instanceof Promise)) return first.reserved
    const goOn = async (): Promise<Reserved> => {
      let asking: Promise<unknown> = first
      for (let round = 1; ; round += 1) {
        await asking
        const next = attempt(round >= MAX_ROUNDS)
        if (!(next instanceof Promise)) return next.reserved
        asking = next
      }
    }
    return goOn()
  }

  #leaseOf({ id, window, limit }: LimitedWindow): UsageLease {
    const known = this.#leases.get(window)
    if (known !== undefined) return known
    const { store, prefix, now, sharedNow } = this.#options
    // The braces: in a cluster, what is between them says where the key is.
    const storeKey = `${prefix}:used:{${id}}:${window.startsAtMs}`
    const lease = new UsageLease({ window, store, storeKey, limit, now, sharedNow }, this.#floors.get(window))
    this.#leases.set(window, lease)
    return lease
  }

  #countPast(window: UsageWindow, past: Used): void {
    const lease = this.#leases.get(window)
    if (lease !== undefined) {
      lease.raiseFloor(past)
      return
    }
    window.tokens += past.tokens
    window.microUsd += past.microUsd
    window.unpricedCalls += past.unpricedCalls
    this.#floors.set(window, past)
  }
}

const NONE = { tokens: 0, microUsd: 0 }

import type { SharedStore } from '../cluster/shared-store.ts'
import { GatewayError } from '../core/errors.ts'
import type { CallAhead, Caller } from '../gateway/ports.ts'
import type { UsageStorage } from './call-limits.ts'
import { limitsUnavailable, reservedElsewhere } from './limit-refusals.ts'
import type { LimitedWindow } from './limited-window.ts'
import { RoundRobin } from './round-robin.ts'
import {
  type Amounts,
  type Reservation,
  type Shortage,
  shortageWithin,
  sizeOf,
  type UsageWindow,
  type UsedSoFar,
} from './usage-counter.ts'
import { UsageLease, type UsageLeasePorts } from './usage-lease.ts'
import type { BudgetReservations, UsageLimits } from './usage-limits.ts'

/** A call is refused after this many answers that everything is reserved. */
const SHORT_ROUNDS = 3
/**
 * An ending call may use more than estimated and so use up the grants of waiting calls. Waiting
 * calls then ask again, at most this often.
 */
const MAX_ROUNDS = 30

/** Several nodes that reconnect at once with many reports must not overload the store. */
const MAX_QUESTIONS_FOR_ALL = 500

export interface SharedUsageOptions {
  readonly store: SharedStore
  readonly prefix: string
  readonly usage: UsageLimits
  /** Milliseconds of this node's clock, for durations. */
  readonly now: () => number
  readonly wallNow: () => number
  readonly sharedNow: () => number
}

export class SharedUsage implements UsageStorage {
  readonly #options: SharedUsageOptions
  readonly #usage: UsageLimits
  readonly #leases = new Map<UsageWindow, UsageLease>()
  readonly #tended = new RoundRobin(this.#leases)
  readonly #floors = new WeakMap<UsageWindow, UsedSoFar>()
  readonly #ports: UsageLeasePorts
  #sequence = 0

  constructor(options: SharedUsageOptions) {
    this.#options = options
    this.#usage = options.usage
    this.#ports = {
      ...options,
      // The usage of all nodes together may have reached an alert's share, so each report of the
      // sums is checked.
      onSums: ({ id, window }) => this.#usage.alertWindow(id, window),
      nextSequence: () => {
        this.#sequence += 1
        return this.#sequence
      },
    }
    options.usage.shareWith({
      countPast: (...past) => this.#countPast(...past),
      drop: (window) => this.#drop(window),
      shortageOf: (window, amounts) => this.#shortageOf(window, amounts),
    })
  }

  /**
   * @throws GatewayError (or rejects) `quota_exceeded`; `rate_limited` while other calls have
   * reserved all that is left
   */
  reserveBudgets(
    caller: Caller,
    call: CallAhead,
  ): BudgetReservations | Promise<BudgetReservations> {
    const windows = this.#usage.budgetWindowsFor(caller, call)
    if (windows.length === 0) return NO_BUDGETS
    if (this.#isHere(windows, call)) return this.#usage.reserveBudgets(caller, call, true)
    const isOpen = () => this.#options.store.mode === 'open'
    return this.#reserve(windows, call, () => this.#usage.reserveBudgets(caller, call, isOpen()))
  }

  reserveQuota(
    caller: Caller,
    call: CallAhead,
  ): Reservation | GatewayError | Promise<Reservation | GatewayError> {
    const here = this.#reserveQuotaHere(caller, call)
    if (here !== undefined) return here
    const quota = this.#usage.quotaWindowFor(caller, call)
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

  /**
   * Reports usage to the store and returns unused reservations. Up to some thousand windows are all
   * visited within `rounds` calls.
   * @returns how many requests were sent
   */
  tend(nowMs: number, usualQuestions: number, rounds = 1): number {
    const share = Math.ceil(this.#leases.size / rounds)
    const maxQuestions = Math.max(usualQuestions, Math.min(MAX_QUESTIONS_FOR_ALL, share))
    let questions = 0
    for (
      let looked = Math.min(this.#leases.size, Math.max(share, 1_000));
      looked > 0 && questions < maxQuestions;
      looked -= 1
    ) {
      const lease = this.#tended.next()
      if (lease === undefined) break
      if (lease.tend(nowMs)) questions += 1
      else if (lease.isOver(this.#options.wallNow())) this.#forget(lease)
    }
    return questions
  }

  /** Resolves when the store knows all usage before this call, or is unavailable. Never rejects. */
  async flush(): Promise<void> {
    const flushing: Promise<void>[] = []
    for (const lease of this.#leases.values()) if (!lease.isFlushed) flushing.push(lease.flush())
    await Promise.all(flushing)
  }

  /**
   * Resolves when the store's figures for these windows are recent enough here, or the store is
   * unavailable. Never rejects.
   */
  async refresh(windows: readonly LimitedWindow[], maxAgeMs: number): Promise<void> {
    await Promise.all(windows.map((window) => this.#leaseOf(window).refresh(maxAgeMs)))
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.settled()))
  }

  /**
   * The usual case of a busy account: this node holds enough and sends no request. Undefined:
   * `#reserve` decides.
   */
  #reserveQuotaHere(caller: Caller, call: CallAhead): Reservation | undefined {
    const window = this.#usage.quotaAt(caller.accountId, call.startedAtMs)
    const lease = this.#leases.get(window)
    if (lease === undefined || this.#options.store.mode !== 'shared') return undefined
    const nowMs = this.#options.now()
    const wanted = wantedOf(window, call)
    if (!lease.covers(wanted, nowMs)) return undefined
    const reserved = this.#usage.reserveQuota(caller, call)
    if (reserved instanceof GatewayError) return undefined
    lease.noteTaken(wanted, nowMs)
    return reserved
  }

  #isHere(windows: readonly LimitedWindow[], call: CallAhead): boolean {
    if (this.#options.store.mode !== 'shared') return false
    const nowMs = this.#options.now()
    for (const { window, limits } of windows) {
      const lease = this.#leases.get(window)
      if (lease === undefined || shortageWithin(limits.refuseAt, window) !== undefined) return false
      if (!lease.covers(wantedOf(window, call), nowMs)) return false
    }
    for (const { window } of windows)
      this.#leases.get(window)?.noteTaken(wantedOf(window, call), nowMs)
    return true
  }

  #reserve<Reserved>(
    windows: readonly LimitedWindow[],
    call: CallAhead,
    decide: () => Reserved,
  ): Reserved | Promise<Reserved> {
    const leases = windows.map((limited) => this.#leaseOf(limited))
    const attempt = (
      round: number,
      granted: Grants,
    ): { readonly reserved: Reserved } | Promise<Grants> => {
      for (const [lease, pair] of granted) lease.release(pair)
      const { mode } = this.#options.store
      const nowMs = this.#options.now()
      const limited = windows.filter(({ limits }) =>
        Object.values(limits.refuseAt).some(Number.isFinite),
      )
      if (mode === 'closed' && limited.length > 0) throw limitsUnavailable()
      const wanted = windows.map(({ window }) => wantedOf(window, call))
      const uncovered = leases.flatMap((lease, index) => {
        const pair = wanted[index]
        // The grant belongs to this call, even when ended calls used more than estimated.
        const isCovered = mode === 'open' || granted.has(lease) || lease.covers(pair ?? NONE, nowMs)
        return pair === undefined || isCovered ? [] : [{ lease, pair }]
      })
      const mayAsk = mode === 'shared' && round < MAX_ROUNDS
      try {
        if (uncovered.length === 0) {
          const reserved = decide()
          for (const [index, lease] of leases.entries())
            lease.noteTaken(wanted[index] ?? NONE, nowMs)
          return { reserved }
        }
        // A used-up window stays used up, and a recently fully reserved window need not be asked
        // again.
        for (const [index, { window, limits }] of windows.entries()) {
          const lacking = shortageWithin(limits.refuseAt, window)
          const isSure =
            lacking === 'exhausted' ||
            round >= SHORT_ROUNDS ||
            leases[index]?.isFresh(nowMs) === true
          if (lacking !== undefined && isSure) decide()
        }
      } catch (error) {
        const isTemporary = error instanceof GatewayError && error.kind === 'rate_limited'
        const isLast = !mayAsk || round >= SHORT_ROUNDS
        if (!isTemporary || isLast || leases.every((lease) => lease.isFresh(nowMs))) throw error
      }
      if (!mayAsk) throw reservedElsewhere()
      const requests =
        uncovered.length > 0
          ? uncovered
          : leases.map((lease, index) => ({ lease, pair: wanted[index] ?? NONE }))
      return askAll(requests)
    }
    const first = attempt(0, NO_GRANTS)
    if (!(first instanceof Promise)) return first.reserved
    const goOn = async (): Promise<Reserved> => {
      let pending = first
      for (let round = 1; ; round += 1) {
        const next = attempt(round, await pending)
        if (!(next instanceof Promise)) return next.reserved
        pending = next
      }
    }
    return goOn()
  }

  #shortageOf(window: UsageWindow, amounts: Amounts): Shortage | undefined {
    const { mode } = this.#options.store
    if (mode === 'open') return undefined
    const lacking = shortageWithin(amounts, window)
    if (lacking !== undefined || mode === 'shared') return lacking
    return this.#leases.get(window)?.isShareUsedUp(amounts) === true ? 'reserved' : undefined
  }

  #leaseOf(limited: LimitedWindow): UsageLease {
    const { window } = limited
    const known = this.#leases.get(window)
    if (known !== undefined) return known
    const lease = new UsageLease(limited, this.#ports, this.#floors.get(window))
    this.#floors.delete(window)
    this.#leases.set(window, lease)
    return lease
  }

  /**
   * A clock that is set back returns to an old period: its usage was reported by then, and the
   * lease requests its reservations again.
   */
  #forget({ window }: UsageLease): void {
    const { tokens, nanoUsd, unpricedCalls } = window
    this.#leases.delete(window)
    this.#floors.set(window, { tokens, nanoUsd, unpricedCalls })
    window.reservedTokens = 0
    window.reservedNanoUsd = 0
  }

  #drop(window: UsageWindow): boolean {
    const lease = this.#leases.get(window)
    if (lease?.isIdle === false) return false
    this.#leases.delete(window)
    return true
  }

  #countPast(window: UsageWindow, past: UsedSoFar, isAgain: boolean): void {
    const lease = this.#leases.get(window)
    if (lease !== undefined) {
      // Nothing is shipped before the first read, so no usage counts twice.
      lease.raiseFloor(past, isAgain || this.#usage.whenCounted() === undefined)
      return
    }
    // An earlier read may have added the same usage, so the greater value counts.
    window.tokens = Math.max(window.tokens, past.tokens)
    window.nanoUsd = Math.max(window.nanoUsd, past.nanoUsd)
    window.unpricedCalls = Math.max(window.unpricedCalls, past.unpricedCalls)
    const { tokens, nanoUsd, unpricedCalls } = window
    this.#floors.set(window, { tokens, nanoUsd, unpricedCalls })
  }
}

const NONE: Amounts = { tokens: 0, nanoUsd: 0 }
const NO_BUDGETS: BudgetReservations = []

type Grants = ReadonlyMap<UsageLease, Amounts>

const NO_GRANTS: Grants = new Map()

async function askAll(
  requests: readonly { readonly lease: UsageLease; readonly pair: Amounts }[],
): Promise<Grants> {
  const granted = new Map<UsageLease, Amounts>()
  const ask = async ({ lease, pair }: (typeof requests)[number]) => {
    if (await lease.ask(pair)) granted.set(lease, pair)
  }
  await Promise.all(requests.map(ask))
  return granted
}

function wantedOf(window: UsageWindow, call: CallAhead): Amounts {
  return {
    tokens: Math.max(1, sizeOf(call)),
    nanoUsd: Math.max(1, window.estimateNanoUsd(call)),
  }
}

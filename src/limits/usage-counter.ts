/**
 * Counts use and reservations of the current period. Must not know limits, accounts or who counts.
 *
 * A call belongs to the period in which it began, as its row in the ledger does, whenever it ends:
 * so the sums are those of the ledger to the token.
 */
import { type Period, type Span, spanOf } from '../core/period.ts'

export interface Amounts {
  readonly tokens: number
  /** Millionths of a US dollar. */
  readonly microUsd: number
}

/** Calls have used so much so far. */
export interface UsedSoFar extends Amounts {
  /** Calls that used something and whose cost is not known. */
  readonly unpricedCalls: number
}

/** The use of a finished call. */
export interface UsedAmounts extends Amounts {
  /** False: what it cost is not known, and it is not counted as spend. */
  readonly isPriced: boolean
}

export class UsageWindow implements Span {
  readonly startsAtMs: number
  readonly endsAtMs: number
  tokens = 0
  microUsd = 0
  /** Calls that used something and whose cost is not known. */
  unpricedCalls = 0
  reservedTokens = 0
  reservedMicroUsd = 0
  /**
   * The sums of all nodes in the ledger, when somebody looked: for who looks, and for no decision.
   */
  #seen: UsedSoFar = { tokens: 0, microUsd: 0, unpricedCalls: 0 }

  constructor({ startsAtMs, endsAtMs }: Span) {
    this.startsAtMs = startsAtMs
    this.endsAtMs = endsAtMs
  }

  /**
   * The cost of that many tokens at the average of this period so far; 0 while nothing is known.
   */
  estimateMicroUsd(tokens: number): number {
    return this.tokens === 0 ? 0 : Math.floor((this.microUsd / this.tokens) * tokens)
  }

  see(ledger: UsedSoFar): void {
    this.#seen = ledger
  }

  /** For who looks: all that is known, also of nodes with which this one shares no counters. */
  get shown(): UsedSoFar {
    return {
      tokens: Math.max(this.tokens, this.#seen.tokens),
      microUsd: Math.max(this.microUsd, this.#seen.microUsd),
      unpricedCalls: Math.max(this.unpricedCalls, this.#seen.unpricedCalls),
    }
  }

  add(used: UsedAmounts): void {
    this.tokens += used.tokens
    this.microUsd += used.microUsd
    if (!used.isPriced) this.unpricedCalls += 1
  }
}

/** Amounts set aside for one call until it is known what it used. */
export class Reservation {
  readonly window: UsageWindow
  readonly #tokens: number
  readonly #microUsd: number

  constructor(window: UsageWindow, tokens: number) {
    this.window = window
    this.#tokens = tokens
    this.#microUsd = window.estimateMicroUsd(tokens)
    window.reservedTokens += tokens
    window.reservedMicroUsd += this.#microUsd
  }

  /**
   * Gives it back, and counts what was really used; undefined: nothing that counts here. Call it
   * once.
   */
  settle(used: UsedAmounts | undefined): void {
    this.window.reservedTokens -= this.#tokens
    this.window.reservedMicroUsd -= this.#microUsd
    if (used !== undefined) this.window.add(used)
  }
}

/** Of one quota or budget: this period, the last one, and where clocks jump a few more. */
const KEPT_WINDOWS = 4

export class UsageCounter {
  readonly #period: Period
  readonly #originMs: number
  #window: UsageWindow | undefined
  /** Those of other periods, the one that was asked for last at the end. */
  #others: readonly UsageWindow[] = []

  /** @param originMs what began before in the same period is not asked for */
  constructor(period: Period, originMs = 0) {
    this.#period = period
    this.#originMs = originMs
  }

  /**
   * The period that holds a moment. A clock that is set back finds what its period has counted, and
   * no second one. The period of the origin begins with it, and takes a moment before it too: on
   * another node's clock that moment is later.
   */
  at(momentMs: number): UsageWindow {
    const window = this.#window
    if (window !== undefined && momentMs < window.endsAtMs && momentMs >= window.startsAtMs)
      return window
    return this.#change(momentMs)
  }

  #change(momentMs: number): UsageWindow {
    const { startsAtMs: periodStartsAtMs, endsAtMs } = spanOf(this.#period, momentMs)
    const isOfOrigin = periodStartsAtMs < this.#originMs && this.#originMs < endsAtMs
    const startsAtMs = isOfOrigin ? this.#originMs : periodStartsAtMs
    const before = this.#window
    if (before?.startsAtMs === startsAtMs) return before
    const known = this.#others.find((window) => window.startsAtMs === startsAtMs)
    const window = known ?? new UsageWindow({ startsAtMs, endsAtMs })
    const others = this.#others.filter((other) => other !== known)
    this.#others = before === undefined ? others : [...others, before].slice(1 - KEPT_WINDOWS)
    this.#window = window
    return window
  }
}

/**
 * Replays calls against a budget that does not exist, one after another. Periods, limits and the
 * choice of the counted calls are those of real budgets.
 */
import { type Budget, type BudgetScope, toLedgerScope } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import { BudgetsByScope } from './budgets-by-scope.ts'
import { type CountedCaller, HeadCounter } from './head-counter.ts'
import { type BudgetCounter, shortageWithin, type UsageWindow } from './usage-counter.ts'

export interface PastPrices {
  /**
   * The cost of the call's tokens at the operator's price for models without a known price, in
   * billionths of a US dollar.
   */
  estimateAt(call: CallRecord): number | null
}

export interface SimulatedSum {
  calls: number
  tokens: number
  /** Billionths of a US dollar. */
  nanoUsd: number
}

export interface SimulatedSums {
  readonly admitted: SimulatedSum
  readonly refused: SimulatedSum
  /** Milliseconds since the Unix epoch. */
  firstRefusedAt: number | undefined
}

export interface SimulatedPeriod extends SimulatedSums {
  readonly startsAtMs: number
  readonly endsAtMs: number
}

export type HeadType = Exclude<BudgetScope['type'], 'each-user' | 'each-key'>

/** A key, gate, user, tag or account with its own counters. */
export interface SimulatedHead extends SimulatedSums {
  readonly type: HeadType
  readonly id: string
}

/** Calls that the simulation treats in a special way. */
export interface SpecialCalls {
  /** Refused at the time, so their size is unknown. */
  refusedThen: number
  /** Not counted by a budget of each user. */
  withoutUser: number
  /** Without a known price, by a budget in money. */
  unpriced: number
}

export interface SimulationOptions {
  /** Counts calls from `createdAt` on. */
  readonly budget: Budget
  /** The account's budgets. A budget of a user or key replaces the default of `each-…`. */
  readonly others?: readonly Budget[]
  readonly callerOf: (call: CallRecord) => CountedCaller
  readonly prices: PastPrices
}

export class BudgetSimulation {
  readonly total: SimulatedSums = createSums()
  readonly periods = new Map<number, SimulatedPeriod>()
  readonly heads = new Map<string, SimulatedHead>()
  readonly special: SpecialCalls = { refusedThen: 0, withoutUser: 0, unpriced: 0 }
  readonly #budget: Budget
  readonly #prices: PastPrices
  readonly #counters: BudgetsByScope

  readonly #callerOf: SimulationOptions['callerOf']

  constructor({ budget, others = [], callerOf, prices }: SimulationOptions) {
    this.#budget = { ...budget, alertAt: [] }
    this.#prices = prices
    this.#callerOf = callerOf
    this.#counters = new BudgetsByScope({
      onAlert: () => {},
      // A raise has an end in the future, so it does not apply to past calls.
      now: () => Number.POSITIVE_INFINITY,
      // All of the past that counts is replayed.
      readPast: async () => NOTHING_USED,
      countPast: () => {},
      mayDrop: () => false,
    })
    for (const other of others) this.#counters.put(other)
    this.#counters.put(this.#budget)
  }

  /** Calls must come in the order in which they began. */
  add(call: CallRecord): void {
    if (this.#budget.scope.type === 'each-user' && call.user === undefined)
      this.special.withoutUser += call.refusals === undefined ? 1 : 0
    for (const counter of this.#counters.findFor(this.#callerOf(call), call))
      if (counter.budget === this.#budget) this.#count(counter, call)
  }

  #count(counter: BudgetCounter, call: CallRecord): void {
    if (call.refusals !== undefined) {
      this.special.refusedThen += call.refusals
      return
    }
    const window = counter.windowAt(call.startedAt)
    const used = this.#usedBy(call)
    const isRefused =
      shortageWithin(counter.ceilings, window) !== undefined ||
      (!used.isPriced && this.#budget.limit.type === 'spend' && this.#budget.unpriced === 'refuse')
    for (const sums of [this.total, this.#periodOf(window), this.#headOf(counter)]) {
      add(isRefused ? sums.refused : sums.admitted, used)
      if (isRefused) sums.firstRefusedAt ??= call.startedAt
    }
    if (!isRefused) window.add(used)
  }

  #usedBy(call: CallRecord) {
    const { usage, cost } = call
    const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
    const isSpend = this.#budget.limit.type === 'spend'
    let nanoUsd = cost?.nanoUsd ?? null
    if (nanoUsd === null && tokens > 0 && isSpend) {
      this.special.unpriced += 1
      if (this.#budget.unpriced === 'estimate') nanoUsd = this.#prices.estimateAt(call)
    }
    return { tokens, nanoUsd: nanoUsd ?? 0, isPriced: nanoUsd !== null || tokens === 0 }
  }

  #periodOf({ startsAtMs, endsAtMs }: UsageWindow): SimulatedPeriod {
    const known = this.periods.get(startsAtMs)
    if (known !== undefined) return known
    const period = { startsAtMs, endsAtMs, ...createSums() }
    this.periods.set(startsAtMs, period)
    return period
  }

  #headOf(counter: BudgetCounter): SimulatedHead {
    const { type, id } = identify(counter)
    const known = this.heads.get(id)
    if (known !== undefined) return known
    const head = { type, id, ...createSums() }
    this.heads.set(id, head)
    return head
  }
}

const NOTHING_USED = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

function identify(counter: BudgetCounter): Pick<SimulatedHead, 'type' | 'id'> {
  const { scope, accountId } = counter.budget
  const { keyId, gateId, userId, tagId } = toLedgerScope(scope)
  const id = counter instanceof HeadCounter ? counter.head : (keyId ?? gateId ?? userId ?? tagId)
  if (scope.type === 'each-user') return { type: 'user', id: id ?? '' }
  if (scope.type === 'each-key') return { type: 'key', id: id ?? '' }
  return { type: scope.type, id: id ?? accountId }
}

function createSums(): SimulatedSums {
  const none = () => ({ calls: 0, tokens: 0, nanoUsd: 0 })
  return { admitted: none(), refused: none(), firstRefusedAt: undefined }
}

function add(sum: SimulatedSum, { tokens, nanoUsd }: Omit<SimulatedSum, 'calls'>): void {
  sum.calls += 1
  sum.tokens += tokens
  sum.nanoUsd += nanoUsd
}

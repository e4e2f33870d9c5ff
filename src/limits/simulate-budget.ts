/**
 * Replays calls against a budget that does not exist, one after another. Periods, limits and the
 * choice of the counted calls are those of real budgets.
 */
import { type Budget, type BudgetScope, toLedgerScope } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import { BudgetsByScope } from './budgets-by-scope.ts'
import { type CountedCaller, HeadCounter } from './head-counter.ts'
import {
  type Outcome,
  type PastPrices,
  type SteeredGate,
  steerPastCall,
} from './steer-past-call.ts'
import {
  type BudgetCounter,
  shortageWithin,
  type UsageWindow,
  type UsedAmounts,
} from './usage-counter.ts'

export interface SimulatedSum {
  calls: number
  tokens: number
  /** Billionths of a US dollar. */
  nanoUsd: number
}

export interface SimulatedSums {
  readonly admitted: SimulatedSum
  /** Calls at another target, at that target's price. */
  readonly moved: SimulatedSum & { savedNanoUsd: number }
  readonly refused: SimulatedSum
  /** Milliseconds since the Unix epoch. */
  firstRefusedAt: number | undefined
  firstMovedAt: number | undefined
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
  /** Refused, because their gate is deleted and so its other targets are unknown. */
  withoutGate: number
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
  /** The gate as it is today. Undefined: it is deleted. */
  readonly gateOf: (call: CallRecord) => SteeredGate | undefined
  readonly prices: PastPrices
}

export class BudgetSimulation {
  readonly total: SimulatedSums = createSums()
  readonly periods = new Map<number, SimulatedPeriod>()
  readonly heads = new Map<string, SimulatedHead>()
  readonly special: SpecialCalls = { refusedThen: 0, withoutGate: 0, withoutUser: 0, unpriced: 0 }
  readonly #budget: Budget
  readonly #prices: PastPrices
  readonly #counters: BudgetsByScope

  readonly #callerOf: SimulationOptions['callerOf']
  readonly #gateOf: SimulationOptions['gateOf']

  constructor({ budget, others = [], callerOf, gateOf, prices }: SimulationOptions) {
    this.#budget = { ...budget, alertAt: [] }
    this.#prices = prices
    this.#callerOf = callerOf
    this.#gateOf = gateOf
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
    const outcome = this.#decide(counter, window, { call, used })
    for (const sums of [this.total, this.#periodOf(window), this.#headOf(counter)])
      addTo(sums, outcome, { used, startedAt: call.startedAt })
    if (outcome === 'admitted') window.add(used)
    else if (outcome !== 'refused') window.add({ ...used, nanoUsd: outcome.nanoUsd })
  }

  #decide(counter: BudgetCounter, window: UsageWindow, { call, used }: UsedCall): Outcome {
    const { limit, unpriced } = this.#budget
    if (shortageWithin(counter.refuseAt, window) !== undefined) return 'refused'
    if (!used.isPriced && limit.type === 'spend' && unpriced === 'refuse') return 'refused'
    const isUsedUp = shortageWithin(counter.ceilings, window) !== undefined
    // Calls that use nothing are not steered.
    if (!isUsedUp || (used.tokens === 0 && used.nanoUsd === 0)) return 'admitted'
    const gate = this.#gateOf(call)
    if (gate === undefined) {
      this.special.withoutGate += 1
      return 'refused'
    }
    return steerPastCall(gate, call, { budget: this.#budget, prices: this.#prices })
  }

  #usedBy(call: CallRecord) {
    const { usage, cost } = call
    const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
    const isSpend = this.#budget.limit.type === 'spend'
    let nanoUsd = cost?.nanoUsd ?? null
    if (nanoUsd === null && tokens > 0 && isSpend) {
      this.special.unpriced += 1
      if (this.#budget.unpriced === 'estimate') nanoUsd = this.#prices.estimateAt(call, call.target)
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

interface UsedCall {
  readonly call: CallRecord
  readonly used: UsedAmounts
}

function createSums(): SimulatedSums {
  const none = () => ({ calls: 0, tokens: 0, nanoUsd: 0 })
  return {
    ...{ admitted: none(), moved: { ...none(), savedNanoUsd: 0 }, refused: none() },
    ...{ firstRefusedAt: undefined, firstMovedAt: undefined },
  }
}

function addTo(
  sums: SimulatedSums,
  outcome: Outcome,
  { used, startedAt }: { readonly used: UsedAmounts; readonly startedAt: number },
): void {
  if (outcome === 'admitted') add(sums.admitted, used)
  else if (outcome === 'refused') {
    add(sums.refused, used)
    sums.firstRefusedAt ??= startedAt
  } else {
    add(sums.moved, { ...used, nanoUsd: outcome.nanoUsd })
    sums.moved.savedNanoUsd += used.nanoUsd - outcome.nanoUsd
    sums.firstMovedAt ??= startedAt
  }
}

function add(sum: SimulatedSum, { tokens, nanoUsd }: Omit<SimulatedSum, 'calls'>): void {
  sum.calls += 1
  sum.tokens += tokens
  sum.nanoUsd += nanoUsd
}

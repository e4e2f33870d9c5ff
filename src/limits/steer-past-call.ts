/**
 * The target of a past call under a used-up budget that steers, by the rules of
 * `gateway/steer-targets.ts`.
 */
import type { Budget } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import type { Gate } from '../core/gate.ts'
import { listAskedFirst, mayBeSteeredTo } from '../core/steering.ts'

/** Amounts are billionths of a US dollar, for the tokens of a call at a target. */
export interface PastPrices {
  /** At the price of the call's time. Undefined: the price is not known. */
  knownAt(call: CallRecord, target: string): number | undefined
  /** As a limit in money counts an unknown price. Null: the call reported no usage. */
  estimateAt(call: CallRecord, target: string | null): number | null
}

export type SteeredGate = Pick<Gate, 'strategy' | 'targets'>

/** The cost at another target, in billionths of a US dollar. */
export interface MovedCall {
  readonly nanoUsd: number
}

export type Outcome = 'admitted' | 'refused' | MovedCall

interface SteeringBudget {
  readonly budget: Pick<Budget, 'atLimit'>
  readonly prices: PastPrices
}

export function steerPastCall(
  gate: SteeredGate,
  call: CallRecord,
  { budget, prices }: SteeringBudget,
): Outcome {
  const below = budget.atLimit === 'free-only' ? 0 : mostOfFirst(gate, call, prices)
  if (call.target !== null && mayBeSteeredTo(prices.knownAt(call, call.target), below))
    return 'admitted'
  for (const { model } of gate.targets) {
    const nanoUsd = prices.knownAt(call, model)
    if (nanoUsd !== undefined && mayBeSteeredTo(nanoUsd, below)) return { nanoUsd }
  }
  return 'refused'
}

/** The highest price of the targets that the gate's strategy may ask first. */
function mostOfFirst(
  { strategy, targets }: SteeredGate,
  call: CallRecord,
  prices: PastPrices,
): number {
  const costs = listAskedFirst(strategy, targets).map(
    ({ model }) => prices.knownAt(call, model) ?? prices.estimateAt(call, model) ?? 0,
  )
  return Math.max(0, ...costs)
}

/** The state of a limit in money, for clients that show the limit to people. */
import type { Period } from './period.ts'

export interface SpendState {
  readonly period: Period
  /** Billionths of a US dollar. */
  readonly usedNanoUsd: number
  readonly limitNanoUsd: number
  /** End of the period, in milliseconds since the Unix epoch; infinite for `total`. */
  readonly endsAtMs: number
}

export function usedShareOf({ usedNanoUsd, limitNanoUsd }: SpendState): number {
  return limitNanoUsd > 0 ? usedNanoUsd / limitNanoUsd : 1
}

/** The fullest state. Of used-up limits, the one that ends last. Undefined for no states. */
export function fullestOf(states: readonly SpendState[]): SpendState | undefined {
  let fullest: SpendState | undefined
  for (const state of states) if (fullest === undefined || isFuller(state, fullest)) fullest = state
  return fullest
}

function isFuller(one: SpendState, other: SpendState): boolean {
  const [share, otherShare] = [usedShareOf(one), usedShareOf(other)]
  return share >= 1 && otherShare >= 1 ? one.endsAtMs > other.endsAtMs : share > otherShare
}

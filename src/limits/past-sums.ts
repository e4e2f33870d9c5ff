/** The ledger's sums of earlier calls. */
import type { AccountId } from '../core/ids.ts'
import type { UsedSoFar } from './usage-counter.ts'

/** Usage of earlier calls of an account. */
export interface PastUsage extends UsedSoFar {
  readonly accountId: AccountId
  readonly countsForQuota: boolean
}

interface PastSums {
  tokens: number
  nanoUsd: number
  unpricedCalls: number
}

export function sumOf(past: readonly UsedSoFar[]): UsedSoFar {
  const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
  for (const usage of past) addPast(sum, usage)
  return sum
}

export function addPast(sums: PastSums, past: Readonly<PastSums>): void {
  sums.tokens += past.tokens
  sums.nanoUsd += past.nanoUsd
  sums.unpricedCalls += past.unpricedCalls
}

export function raiseTo(sums: PastSums, past: Readonly<PastSums>): void {
  sums.tokens = Math.max(sums.tokens, past.tokens)
  sums.nanoUsd = Math.max(sums.nanoUsd, past.nanoUsd)
  sums.unpricedCalls = Math.max(sums.unpricedCalls, past.unpricedCalls)
}

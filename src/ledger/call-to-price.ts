import type { CallOutcome } from '../core/call.ts'
import type { OtherPrice, ToolKind, ToolUses } from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { Usage } from '../core/usage.ts'
import type { ServedPrice } from './served-price.ts'

export interface CallToPrice {
  readonly accountId: AccountId
  readonly target: string | null
  readonly usage: Usage | null
  readonly startedAt: number
  readonly outcome?: CallOutcome
  /** An owned model's prices at the time of the call. Undefined: use the current prices. */
  readonly ownedPrices?: DeclaredPrices | undefined
  readonly isEstimated?: boolean | undefined
  /** Of a stored call: as in its record. */
  readonly isUsageEstimated?: boolean | undefined
  /** Options of the request that change the price. */
  readonly otherPrices?: readonly OtherPrice[]
  readonly answeredBy?: string | undefined
  /** Estimates the cost when no price is known. Undefined: the cost is unknown then. */
  readonly estimateAs?: UnpricedKind | undefined
  /** Tools that the provider was asked to run. */
  readonly tools?: readonly ToolKind[]
  readonly toolUses?: ToolUses | undefined
}

export interface AsServed {
  readonly as?: ServedPrice | undefined
}

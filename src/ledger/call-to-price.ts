/** What the price of a call depends on. */
import type { CallOutcome } from '../core/call.ts'
import type { OtherPrice, ToolKind, ToolUses } from '../core/cost.ts'
import type { AccountId } from '../core/ids.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { Usage } from '../core/usage.ts'
import type { ServedPrice } from './served-price.ts'

export interface CallToPrice {
  readonly accountId: AccountId
  /** `provider/model`; null: no upstream was asked. */
  readonly target: string | null
  readonly usage: Usage | null
  readonly startedAt: number
  /** Undefined: the call succeeded. */
  readonly outcome?: CallOutcome
  /** An owned model's prices at the time of the call. Undefined: use the current prices. */
  readonly ownedPrices?: DeclaredPrices | undefined
  readonly isEstimated?: boolean
  /** Options of the request that change the price. */
  readonly otherPrices?: readonly OtherPrice[]
  /** The model that answered, by its name at the upstream. Undefined: not reported. */
  readonly answeredBy?: string | undefined
  /** Tools that the provider was asked to run. */
  readonly tools?: readonly ToolKind[]
  /** How often the provider ran each tool. */
  readonly toolUses?: ToolUses | undefined
}

/** How the call was served. Undefined: as the usage reports. */
export interface AsServed {
  readonly as?: ServedPrice | undefined
}

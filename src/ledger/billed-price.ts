import type { Cost } from '../core/cost.ts'
import { addCosts, toNanoUsd } from '../core/money.ts'
import type { CostForm, Usage } from '../core/usage.ts'
import { isNothing, isWhole, parseDeclaredSource } from './cost-parts.ts'

export interface CostReports {
  readonly form: CostForm
  /**
   * US dollars per million tokens of models missing from the table, used until a cost is reported.
   */
  readonly unlisted: { readonly input: number; readonly output: number }
}

/**
 * The source of a cost that the provider reported. Rows do not store the report, so the cost is
 * never recomputed.
 */
export const REPORTED = 'reported'

export const ANSWERED = '+answered'

/** The source of a cost whose price was not known. */
export const UNPRICED = 'unpriced'

interface ReportedCall {
  readonly usage: Usage | null
  readonly outcome?: Parameters<typeof isWhole>[0]
  readonly isEstimated?: boolean | undefined
}

export function asReported(
  reports: CostReports | undefined,
  call: ReportedCall,
  priced: Cost,
): Cost {
  const cost = call.usage?.billing?.cost
  if (reports === undefined || cost === undefined || cost.form !== reports.form) return priced
  if (cost.usd === undefined) return toEstimated(priced)
  const nanoUsd = addCosts(0, toNanoUsd(cost.usd))
  if (!cost.isPartial && call.isEstimated !== true) {
    const status = isWhole(call.outcome) ? 'exact' : 'estimated'
    return { nanoUsd, status, source: REPORTED }
  }
  return (priced.nanoUsd ?? 0) > nanoUsd
    ? toEstimated(priced)
    : { nanoUsd, status: 'estimated', source: REPORTED }
}

export function sumAttempts(
  costs: readonly { readonly cost: Cost; readonly isSure: boolean }[],
  source: string,
): Cost {
  let nanoUsd = 0
  let isExact = true
  for (const { cost, isSure } of costs) {
    nanoUsd = addCosts(nanoUsd, cost.nanoUsd ?? 0)
    isExact &&= isSure && cost.status === 'exact'
  }
  return { nanoUsd, status: isExact ? 'exact' : 'estimated', source: source + ANSWERED }
}

export function toEstimated(cost: Cost): Cost {
  return cost.status === 'exact' ? { ...cost, status: 'estimated' } : cost
}

/** An estimated usage makes an estimated cost, unless the price is zero. */
export function withGuessedUsage(cost: Cost): Cost {
  return isFreeWhateverIsUsed(cost) ? cost : toEstimated(cost)
}

function isFreeWhateverIsUsed({ source }: Cost): boolean {
  const declared = source === null ? undefined : parseDeclaredSource(source)
  return declared !== undefined && isNothing(declared.prices)
}

/**
 * What an answer says of its own price: the cost as its vendor reports it, and the models that
 * answered. Knows no provider by name and no table.
 */
import type { Cost } from '../core/cost.ts'
import { addCosts, toNanoUsd } from '../core/money.ts'
import type { CostForm, Usage } from '../core/usage.ts'
import { isWhole } from './cost-parts.ts'

/** How a vendor reports what it bills. */
export interface CostReports {
  readonly form: CostForm
  /** US dollars per million tokens of models that the table does not list, until a cost is reported. */
  readonly unlisted: { readonly input: number; readonly output: number }
}

/** The source of a cost that the vendor reported. Rows do not keep the report, so it stays as it is. */
export const REPORTED = 'reported'

/**
 * Stands behind the source of a cost whose price is not that of the row's target and tokens alone:
 * another model answered, or several did.
 */
export const ANSWERED = '+answered'

interface ReportedCall {
  readonly usage: Usage | null
  readonly outcome?: Parameters<typeof isWhole>[0]
  /** Of the usage a part is a guess. */
  readonly isEstimated?: boolean
}

/**
 * The cost that the vendor reported, with everything that it charges for.
 * @param priced the cost by price and tokens, for a report that cannot be true or is a part
 */
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

/** @param costs of at least one attempt; `isSure`: it is at the price of its own model */
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

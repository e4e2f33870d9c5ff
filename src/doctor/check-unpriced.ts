/**
 * Limits in money that let calls pass uncounted, because they allow targets whose price is not
 * known. Asks nobody.
 */
import type { Finding } from '../core/finding.ts'
import type { PlansSection } from '../core/plan.ts'
import { findingsOf } from './finding.ts'

const { warn } = findingsOf('limits')

export interface ExaminedBudget {
  readonly id: string
  readonly name: string
  readonly isInMoney: boolean
  readonly unpriced: string
}

export function checkUnpricedBudgets(budgets: readonly ExaminedBudget[]): Finding[] {
  return budgets
    .filter(({ isInMoney, unpriced }) => isInMoney && unpriced === 'allow')
    .map(({ id, name }) =>
      warn(
        `the budget ${name} is in US dollars and allows models whose price is not known: their ` +
          'calls pass it uncounted',
        `Where every model has a price: gatehouse budgets update ${id} --unpriced refuse`,
      ),
    )
}

export function checkUnpricedPlans(section: PlansSection | undefined): Finding[] {
  return Object.entries(section?.definitions ?? {})
    .filter(([, { unpriced }]) => unpriced === 'allow')
    .map(([name]) =>
      warn(
        `the plan ${name} allows models whose price is not known: their calls pass ` +
          'monthlySpendUsd uncounted',
        'Where every model has a price, take unpriced: allow out of gatehouse.yaml',
      ),
    )
}

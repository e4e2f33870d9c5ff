/** Simulates a budget of the list. */
import { lazy, Suspense } from 'react'
import type { Budget } from '../../ui/budget-use.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'
import type { SimulatedBudget } from './budget-simulation.tsx'

/** Few people simulate, so the part is loaded when first needed. */
const BudgetSimulation = lazy(async () => ({
  default: (await import('./budget-simulation.tsx')).BudgetSimulation,
}))

export function SimulationDialog({ row: budget, onClose }: RowDialogProps<Budget>) {
  return (
    <Dialog isOpen onClose={onClose} title={`Simulation of “${budget.name}”`}>
      <Suspense fallback={<p role="status">Loading…</p>}>
        <BudgetSimulation budget={toSimulated(budget)} />
      </Suspense>
    </Dialog>
  )
}

function toSimulated(budget: Budget): SimulatedBudget {
  const { scope, period, timeZone, unpriced, atLimit, message, alertAt } = budget
  const { keyId, gateId, member, endUser, tag, limitTokens, limitUsd, refuseAt } = budget
  return {
    ...{ scope, period, timeZone, unpriced, atLimit, message, alertAt },
    keyId: keyId ?? undefined,
    gateId: gateId ?? undefined,
    member: member ?? undefined,
    endUser: endUser ?? undefined,
    tag: tag ?? undefined,
    limitTokens: limitTokens ?? undefined,
    limitUsd: limitUsd ?? undefined,
    refuseAt: refuseAt ?? undefined,
  }
}

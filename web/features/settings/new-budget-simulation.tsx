/** In the form of a new budget: simulates the budget before it is created. */
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import type { SimulatedBudget } from './budget-simulation.tsx'

/** Few people simulate, so the part is loaded when first needed. */
const BudgetSimulation = lazy(async () => ({
  default: (await import('./budget-simulation.tsx')).BudgetSimulation,
}))

/** @param props.budget undefined: the form is not complete */
export function NewBudgetSimulation({ budget }: { readonly budget: SimulatedBudget | undefined }) {
  const [simulated, setSimulated] = useState<SimulatedBudget>()
  const [isTried, setTried] = useState(false)
  const isCurrent = simulated !== undefined && JSON.stringify(simulated) === JSON.stringify(budget)
  const simulate = () => {
    setTried(true)
    setSimulated(budget)
  }
  return (
    <section aria-label="Simulation" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={simulate}>Simulate</Button>
        <p role="status" className="min-w-48 flex-1 text-[13px] text-ink-soft">
          {describe({ isTried, isCurrent, isComplete: budget !== undefined })}
        </p>
      </div>
      {isCurrent && (
        <Suspense fallback={<p role="status">Loading…</p>}>
          <BudgetSimulation budget={simulated} />
        </Suspense>
      )}
    </section>
  )
}

function describe({
  isTried,
  isCurrent,
  isComplete,
}: {
  readonly isTried: boolean
  readonly isCurrent: boolean
  readonly isComplete: boolean
}): string {
  if (isCurrent) return 'Nothing is stored until you create the budget.'
  if (!isTried) return 'See what the budget would have done with past calls.'
  return isComplete
    ? 'The form has changed. Simulate again.'
    : 'Fill in what the budget limits and its limit first.'
}

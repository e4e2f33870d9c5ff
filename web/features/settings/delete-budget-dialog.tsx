/** Asks before a budget is deleted: what it counted is lost with it. */
import { ask } from '../../api/ask.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type Budget, toUse } from './budget-figures.ts'

export function DeleteBudgetDialog({
  budget,
  onClose,
}: {
  readonly budget: Budget
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: () => ask('DELETE /v1/budgets/{id}', { path: { id: budget.id } }),
    makesStale: ['GET /v1/budgets'],
    done: `Budget “${budget.name}” deleted`,
    onDone: onClose,
  })
  const { used, format } = toUse(budget)
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Delete “${budget.name}”?`}
      confirmLabel="Delete the budget"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    >
      <p>
        Calls are no longer limited by it, at once. A budget that you create later does not count
        the {format(used)} that this one has counted.
      </p>
    </ConfirmDialog>
  )
}

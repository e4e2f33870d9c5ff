/** Asks before a budget is deleted: what it counted is lost with it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.ts'
import { type Budget, toUse } from './budget-figures.ts'

export function DeleteBudgetDialog({
  budget,
  onClose,
}: {
  readonly budget: Budget
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const remove = useMutation({
    mutationFn: () => ask('DELETE /v1/budgets/{id}', { path: { id: budget.id } }),
    onSuccess: async () => {
      await refresh(queryClient, 'GET /v1/budgets')
      toast('success', `Budget “${budget.name}” deleted`)
      onClose()
    },
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

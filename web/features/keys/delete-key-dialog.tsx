/** Asks before a key is deleted, and says what will stop working. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask, type RowOf } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.ts'
import { RecentUseNote } from './recent-use-note.tsx'

export function DeleteKeyDialog({
  doomed,
  onClose,
}: {
  readonly doomed: RowOf<'GET /v1/keys'> | undefined
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const remove = useMutation({
    mutationFn: (id: string) => ask('DELETE /v1/keys/{id}', { path: { id } }),
    onSuccess: async () => {
      await refresh(queryClient, 'GET /v1/keys')
      toast('success', `Key “${doomed?.name}” deleted`, {
        description: 'Requests with it are refused from now on.',
      })
      onClose()
    },
  })
  return (
    <ConfirmDialog
      isOpen={doomed !== undefined}
      onClose={() => {
        remove.reset()
        onClose()
      }}
      title={`Delete “${doomed?.name}”?`}
      confirmLabel="Delete the key"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => doomed && remove.mutate(doomed.id)}
    >
      <p>It takes effect at once and cannot be undone.</p>
      {doomed !== undefined && <RecentUseNote apiKey={doomed} />}
    </ConfirmDialog>
  )
}

/** Asks before a key is deleted, and says what will stop working. */
import { ask, type RowOf } from '../../api/ask.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useChange } from '../../ui/use-change.ts'
import { RecentUseNote } from './recent-use-note.tsx'

export function DeleteKeyDialog({
  doomed,
  onClose,
}: {
  readonly doomed: RowOf<'GET /v1/keys'> | undefined
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: (id: string) => ask('DELETE /v1/keys/{id}', { path: { id } }),
    makesStale: ['GET /v1/keys'],
    done: () => [
      `Key “${doomed?.name}” deleted`,
      { description: 'Requests with it are refused from now on.' },
    ],
    onDone: onClose,
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

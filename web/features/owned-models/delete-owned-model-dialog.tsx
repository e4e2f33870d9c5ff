/** Deletes an owned model, or says which gates have to let go of it first. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmChange, Dialog, DialogActions } from '../../ui/dialog.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { toast } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'
import type { OwnedModel } from './draft.ts'

export function DeleteOwnedModelDialog({
  model,
  users,
  isOpen,
  onClose,
}: {
  readonly model: OwnedModel
  /** Gates that have it as a target, as far as is known. */
  readonly users: readonly { readonly id: string }[]
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const remove = useChange({
    send: () => ask('DELETE /v1/owned-models/{slug}', { path: { slug: model.slug } }),
    onAnswer: async () => {
      toast('success', `Model “${model.slug}” deleted`)
      await navigate({ to: '/owned-models', ignoreBlocker: true })
      queryClient.removeQueries({ queryKey: ['GET /v1/owned-models/{slug}'] })
    },
    makesStale: ['GET /v1/owned-models'],
    // A gate has begun to use it since the list was read.
    failureMakesStale: ['GET /v1/gates'],
  })
  if (users.length > 0) {
    return (
      <Dialog isOpen={isOpen} onClose={onClose} title={`${model.slug} is in use`}>
        <p className="text-sm text-ink-soft">
          It is a target of {users.length === 1 ? 'the gate' : `${users.length} gates:`}{' '}
          <GateLinks gates={users} />. Take it out there first; then it can be deleted.
        </p>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    )
  }
  return (
    <ConfirmChange
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete “${model.slug}”?`}
      confirmLabel="Delete the model"
      change={remove}
    >
      <p>
        No gate uses it. Its credential goes with it and cannot be brought back; its calls stay in
        the log.
      </p>
    </ConfirmChange>
  )
}

/** Makes a key under a name. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { problemWith } from '../../api/api-error.ts'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'

export type CreatedKey = AnswerOf<'POST /v1/keys'>
export const MAX_NAME_LENGTH = 120

export function NewKeyForm({
  takesFocus,
  onCreated,
  onCancel,
}: {
  /** Its first field does, when it appears. */
  readonly takesFocus: boolean
  readonly onCreated: (created: CreatedKey) => void
  readonly onCancel: () => void
}) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => ask('POST /v1/keys', { body: { name: name.trim() } }),
    // The answer holds the key: it is kept no longer than the window is open.
    gcTime: 0,
    onSuccess: (created) => {
      onCreated(created)
      return refresh(queryClient, 'GET /v1/keys')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const problem = problemWith(create.error, 'name')
  return (
    <form onSubmit={submit}>
      <TextField
        label="Name"
        placeholder="production, billing service"
        hint="To tell it from the others. Only members of the account see it."
        required
        autoFocus={takesFocus}
        maxLength={MAX_NAME_LENGTH}
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={problem}
      />
      {problem === undefined && <ProblemNote error={create.error} className="mt-4" />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={create.isPending} disabled={name.trim() === ''}>
          Create
        </Button>
      </DialogActions>
    </form>
  )
}

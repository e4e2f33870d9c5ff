/** The changeable fields of an owned model; sends only those that changed. */

import { useQueryClient } from '@tanstack/react-query'
import { fillsInTheMiddle } from '../../../src/contract/dialects.ts'
import { changeSame } from '../../api/change-same.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { toast } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'
import { CredentialHeaderField, hasCredentialHeaderField } from './credential-header-field.tsx'
import { isComplete, MAX_LENGTH, type OwnedModel, toChanges, toDetails } from './draft.ts'
import { FimFields } from './fim-fields.tsx'
import { PriceFields } from './price-fields.tsx'

export function EditForm({ model }: { readonly model: OwnedModel }) {
  const queryClient = useQueryClient()
  const store = (now: OwnedModel) => {
    const { queryKey } = operationQuery('GET /v1/owned-models/{slug}', {
      path: { slug: model.slug },
    })
    queryClient.setQueryData(queryKey, now)
  }
  // The values that the form began with, so that it does not undo what another has changed
  // meanwhile.
  const edited = useEdited(model, toDetails)
  const { base: before, first, fields: typed, change, begin, bringBack } = edited
  const isChanged = JSON.stringify(typed) !== JSON.stringify(first)
  if (!isChanged && before.updatedAt !== model.updatedAt) begin(model)
  const changes = toChanges(before, typed)
  const canSave = isComplete(typed) && Object.keys(changes).length > 0
  const save = useChange({
    send: async (isOverwriting: boolean) => {
      const question = { path: { slug: model.slug }, body: changes }
      const isSame = (now: OwnedModel) => now.updatedAt === before.updatedAt
      return await changeSame(
        'PATCH /v1/owned-models/{slug}',
        [question],
        isOverwriting ? undefined : isSame,
      )
    },
    onAnswer: (saved) => {
      edited.forget()
      store(saved)
      begin(saved)
      toast('success', `Model “${model.slug}” saved`, {
        description: 'Calls that begin now use it.',
      })
    },
    makesStale: ['GET /v1/owned-models'],
  })
  const submit = () => {
    if (!canSave) return
    save.mutate(false)
  }
  return (
    <Form
      onSubmit={submit}
      error={save.error}
      autoComplete="off"
      className="flex flex-col gap-4 p-5"
    >
      <TextField
        label="Display name"
        required
        maxLength={MAX_LENGTH.displayName}
        value={typed.displayName}
        onChange={(event) => change({ displayName: event.target.value })}
        problem={typed.displayName.trim() === '' ? 'It needs a name.' : undefined}
        field="displayName"
      />
      <TextField
        label="Model id at its server"
        isCode
        required
        autoCapitalize="none"
        spellCheck={false}
        maxLength={MAX_LENGTH.upstreamModelId}
        value={typed.upstreamModelId}
        onChange={(event) => change({ upstreamModelId: event.target.value })}
        problem={typed.upstreamModelId.trim() === '' ? 'Its server needs a name.' : undefined}
        field="upstreamModelId"
      />
      {fillsInTheMiddle(model.dialect) && <FimFields chosen={typed} onChange={change} />}
      {hasCredentialHeaderField(model.dialect, typed.credentialHeader) && (
        <CredentialHeaderField
          chosen={typed.credentialHeader}
          onChoose={(credentialHeader) => change({ credentialHeader })}
        />
      )}
      <PriceFields prices={typed} onChange={change} isRegistering={false} />
      <EditNotes thing="model" edited={edited} save={save} onSeen={store} />
      <LeaveGuard isDirty={isChanged || bringBack !== undefined} />
      <div className="flex justify-end gap-2">
        {isChanged && (
          <Button
            onClick={() => {
              begin(model)
              save.reset()
            }}
          >
            Discard
          </Button>
        )}
        <Button look="primary" type="submit" isBusy={save.isPending} disabled={!canSave}>
          Save
        </Button>
      </div>
    </Form>
  )
}

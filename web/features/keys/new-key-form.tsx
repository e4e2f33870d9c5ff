/** Makes a key under a name. */
import { type AnswerOf, ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { ExpiryField } from './expiry-field.tsx'
import { type KeyDraft, toLabel } from './key-draft.ts'
import { KeyNameField } from './key-name-field.tsx'

export type CreatedKey = AnswerOf<'POST /v1/keys'>

export function NewKeyForm({
  draft,
  onChange,
  takesFocus,
  onCreated,
  onCancel,
}: {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  /** Its first field does, when it appears. */
  readonly takesFocus: boolean
  readonly onCreated: (created: CreatedKey) => void
  readonly onCancel: () => void
}) {
  const zone = useTimeZone()
  const create = useChange({
    send: () => ask('POST /v1/keys', { body: toLabel(draft, { now: Date.now(), zone }) }),
    // The answer holds the key.
    isSecret: true,
    onAnswer: onCreated,
    makesStale: ['GET /v1/keys'],
  })
  return (
    <Form onSubmit={() => create.mutate()} error={create.error} className="flex flex-col gap-4">
      <KeyNameField
        name={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        takesFocus={takesFocus}
      />
      <ExpiryField expiry={draft.expiry} onChange={(expiry) => onChange({ ...draft, expiry })} />
      <FormRefusal />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={create.isPending}>
          Create
        </Button>
      </DialogActions>
    </Form>
  )
}

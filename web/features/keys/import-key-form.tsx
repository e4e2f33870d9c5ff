/**
 * Takes over a key that was made elsewhere: whoever holds it need not change anything. It is in no
 * state and no cache of the page.
 */
import { useRef } from 'react'
import { ask } from '../../api/ask.ts'
import { FormActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { ExpiryField } from './expiry-field.tsx'
import { type KeyDraft, toLabel } from './key-draft.ts'
import { KeyNameField } from './key-name-field.tsx'

const MAX_KEY_LENGTH = 600

export function ImportKeyForm({
  draft,
  onChange,
  onDone,
}: {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  readonly onDone: () => void
}) {
  const zone = useTimeZone()
  const field = useRef<HTMLInputElement>(null)
  const take = useChange({
    send: () =>
      ask('POST /v1/keys/import', {
        body: {
          ...toLabel(draft, { now: Date.now(), zone }),
          key: field.current?.value.trim() ?? '',
        },
      }),
    isSecret: true,
    makesStale: ['GET /v1/keys'],
    done: (taken) => [
      `Key “${taken.name}” imported`,
      { description: `${taken.maskedPrefix} is accepted from now on.` },
    ],
    onDone,
  })
  return (
    <Form
      onSubmit={() => take.mutate()}
      error={take.error}
      conflictAt="key"
      autoComplete="off"
      className="flex flex-col gap-4"
    >
      <KeyNameField name={draft.name} onChange={(name) => onChange({ ...draft, name })} />
      <SecretField
        label="Key"
        ref={field}
        maxLength={MAX_KEY_LENGTH}
        field="key"
        hint="One that begins with svc_, legacy_ or sk-svc-. Only its hash is kept."
      />
      <ExpiryField expiry={draft.expiry} onChange={(expiry) => onChange({ ...draft, expiry })} />
      <FormRefusal />
      <FormActions onCancel={onDone} isBusy={take.isPending}>
        Import
      </FormActions>
    </Form>
  )
}

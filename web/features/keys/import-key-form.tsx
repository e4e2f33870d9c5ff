/**
 * Takes over a key that was made elsewhere: whoever holds it need not change anything. It is in no
 * state and no cache of the page.
 */
import { useRef } from 'react'
import { problemWith } from '../../api/api-error.ts'
import { ApiError, ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
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
  const submit = () => {
    take.mutate()
  }
  const { error } = take
  const isTaken = error instanceof ApiError && error.status === 409
  const nameProblem = problemWith(error, 'name')
  const expiryProblem = problemWith(error, 'expiresAt')
  const keyProblem = isTaken ? error.message : problemWith(error, 'key')
  return (
    <Form onSubmit={submit} error={take.error} autoComplete="off" className="flex flex-col gap-4">
      <KeyNameField
        name={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        problem={nameProblem}
      />
      <SecretField
        label="Key"
        ref={field}
        maxLength={MAX_KEY_LENGTH}
        problem={keyProblem}
        hint="One that begins with svc_, legacy_ or sk-svc-. Only its hash is kept."
      />
      <ExpiryField
        expiry={draft.expiry}
        onChange={(expiry) => onChange({ ...draft, expiry })}
        problem={expiryProblem}
      />
      {[nameProblem, keyProblem, expiryProblem].every((problem) => problem === undefined) && (
        <ProblemNote error={error} />
      )}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={take.isPending}>
          Import
        </Button>
      </DialogActions>
    </Form>
  )
}

import { useRef, useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { MAX_LENGTH, type OwnedModel } from './draft.ts'
import { type Probe, ProbeNote } from './probe-note.tsx'

export function RotateCredentialDialog({
  model,
  isOpen,
  onClose,
}: {
  readonly model: OwnedModel
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const [probe, setProbe] = useState<Probe>()
  const close = () => {
    setProbe(undefined)
    onClose()
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={
        model.credentialSetAt === null
          ? `Set a credential of ${model.slug}`
          : `Rotate the credential of ${model.slug}`
      }
      note={
        probe === undefined
          ? 'The new credential replaces the old one at once. The model is then asked for one token as a test; the credential is saved whether or not the model accepts it.'
          : undefined
      }
    >
      {probe === undefined ? (
        <CredentialForm model={model} onCancel={close} onTried={setProbe} />
      ) : (
        <>
          <ProbeNote probe={probe} isSaved />
          <DialogActions>
            {probe.status === 'unreachable' && (
              <Button onClick={() => setProbe(undefined)}>Set another</Button>
            )}
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  )
}

function CredentialForm({
  model,
  onCancel,
  onTried,
}: {
  readonly model: OwnedModel
  readonly onCancel: () => void
  readonly onTried: (probe: Probe) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const save = useChange({
    send: (act: 'set' | 'delete') => {
      const path = { slug: model.slug }
      return act === 'delete'
        ? ask('DELETE /v1/owned-models/{slug}/credential', { path })
        : ask('PATCH /v1/owned-models/{slug}', {
            path,
            body: { credential: field.current?.value.trim() ?? '' },
          })
    },
    isSecret: true,
    onAnswer: ({ probe }) => (probe === null ? onCancel() : onTried(probe)),
    makesStale: ['GET /v1/owned-models', 'GET /v1/owned-models/{slug}'],
  })
  return (
    <Form onSubmit={() => save.mutate('set')} error={save.error} autoComplete="off">
      <SecretField
        label="New credential"
        ref={field}
        autoFocus
        maxLength={MAX_LENGTH.credential}
        field="credential"
        hint="Encrypted, and never shown again."
      />
      <FormRefusal className="mt-4" />
      <DialogActions>
        {model.credentialSetAt !== null && (
          <Button look="danger" disabled={save.isPending} onClick={() => save.mutate('delete')}>
            Delete: its server takes none
          </Button>
        )}
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={save.isPending}>
          {save.isPending ? 'Trying it' : 'Save and try'}
        </Button>
      </DialogActions>
    </Form>
  )
}

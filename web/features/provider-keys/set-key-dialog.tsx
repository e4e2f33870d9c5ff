/**
 * Takes an own key for a provider and hands it to the gateway: no state, no cache and no answer of
 * the page ever holds it.
 */
import { useRef } from 'react'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { ProviderRow } from './provider-rows.ts'

const MAX_KEY_LENGTH = 20_000
/** The masked form of a short key, or of a document. */
const HIDDEN = '…'

export function SetKeyDialog({
  row,
  onSaved,
  onClose,
}: {
  /** Undefined: closed. */
  readonly row: ProviderRow | undefined
  readonly onSaved: OnKeySaved
  readonly onClose: () => void
}) {
  if (row === undefined) return null
  const { provider, ownKey } = row
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={
        ownKey === undefined
          ? `Set your key for ${provider.name}`
          : `Replace your key for ${provider.name}`
      }
      note={`Calls to ${provider.id}/… will be charged to your account there. If the provider refuses the key, they fail: the platform’s credential does not take its place.`}
    >
      {!provider.hasAddress && (
        <p className="mb-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
          This gateway does not know where your {provider.name} is: until its operator has given the
          address, calls fail with any key.
        </p>
      )}
      <SetKeyForm row={row} onSaved={onSaved} onClose={onClose} />
    </Dialog>
  )
}

type Warnings = AnswerOf<'PUT /v1/provider-keys/{provider}'>['warnings']

export type OnKeySaved = (providerId: string, warnings: Warnings) => void

function SetKeyForm({
  row: { provider, ownKey },
  onSaved,
  onClose,
}: {
  readonly row: ProviderRow
  readonly onSaved: OnKeySaved
  readonly onClose: () => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const isActive = ownKey?.active ?? true
  const save = useChange({
    // Takes no argument: what a mutation was called with stays in the cache of mutations.
    send: () =>
      ask('PUT /v1/provider-keys/{provider}', {
        path: { provider: provider.id },
        body: { key: field.current?.value.trim() ?? '', active: isActive },
      }),
    isSecret: true,
    makesStale: ['GET /v1/provider-keys', 'GET /v1/providers'],
    done: ({ maskedKey, probe, warnings }) => [
      `Key for ${provider.name} ${ownKey === undefined ? 'set' : 'replaced'}`,
      {
        description: [
          isActive
            ? `Calls that begin now use ${maskedKey === HIDDEN ? 'it' : maskedKey}.`
            : 'It is inactive, as the one before was.',
          // What is wrong with it stays on the page.
          ...(warnings.length === 0 ? [probe.detail] : []),
        ].join(' '),
      },
    ],
    onDone: ({ warnings }) => {
      onSaved(provider.id, warnings)
      onClose()
    },
  })
  return (
    <Form onSubmit={() => save.mutate()} error={save.error} autoComplete="off">
      <SecretField
        label="Key"
        ref={field}
        autoFocus
        maxLength={MAX_KEY_LENGTH}
        field="key"
        hint="As the provider gave it: an API key, an access key id and its secret joined by a colon, or the JSON of a service account. It is encrypted and never shown again. The gateway tests it with a request that costs nothing, where the provider has one, and saves it either way."
      />
      <FormRefusal className="mt-4" />
      <FormActions onCancel={onClose} isBusy={save.isPending}>
        {ownKey === undefined ? 'Set the key' : 'Replace the key'}
      </FormActions>
    </Form>
  )
}

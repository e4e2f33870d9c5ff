/**
 * Renames a key, or sets when it ends. It sends only what was changed: an expired key takes a name
 * and nothing else.
 */
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { type Expiry, hasExpired, NEVER, toExpiresAt } from './expiry.ts'
import { ExpiryField } from './expiry-field.tsx'
import { KeyNameField } from './key-name-field.tsx'
import type { ApiKey } from './key-table.tsx'

export function ChangeKeyDialog({
  apiKey,
  onClose,
}: {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}) {
  const zone = useTimeZone()
  const before: Expiry = apiKey.expiresAt === null ? NEVER : { choice: 'keep', day: '' }
  const [name, setName] = useState(apiKey.name)
  const [expiry, setExpiry] = useState<Expiry>(before)
  const [isOver] = useState(() => hasExpired(apiKey, Date.now()))
  const isRenamed = name.trim() !== apiKey.name
  const isOtherEnd = expiry.choice !== before.choice
  const save = useChange({
    send: () => {
      const expiresAt = toExpiresAt(expiry, { now: Date.now(), kept: apiKey.expiresAt, zone })
      return ask('PATCH /v1/keys/{id}', {
        path: { id: apiKey.id },
        body: {
          ...(isRenamed ? { name: name.trim() } : {}),
          ...(isOtherEnd && expiresAt !== undefined
            ? { expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() }
            : {}),
        },
      })
    },
    makesStale: ['GET /v1/keys'],
    done: (changed) => `Key “${changed.name}” saved`,
    onDone: onClose,
  })
  return (
    <Dialog isOpen onClose={onClose} title={`Edit “${apiKey.name}”`}>
      <Form onSubmit={() => save.mutate()} error={save.error} className="flex flex-col gap-4">
        <KeyNameField takesFocus name={name} onChange={setName} />
        {isOver ? (
          <p className="text-[13px] text-ink-soft">
            This key has expired, and stays so. Create a new one in its place.
          </p>
        ) : (
          <ExpiryField expiry={expiry} onChange={setExpiry} kept={apiKey.expiresAt} />
        )}
        <FormRefusal />
        <FormActions
          onCancel={onClose}
          isBusy={save.isPending}
          disabled={!(isRenamed || isOtherEnd)}
        >
          Save
        </FormActions>
      </Form>
    </Dialog>
  )
}

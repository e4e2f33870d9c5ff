/** The account's API keys: made, shown once, used, changed, rotated, deleted. */
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { ConfirmDialog, Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { LimitNotices, useExhausted } from '../../ui/limit-notices.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { CreateKeyDialog, ExpiryField, KeyNameField } from './create-key-dialog.tsx'
import { type Expiry, hasExpired, NEVER, toExpiresAt } from './expiry.ts'
import { type ApiKey, type KeyStep, KeyTable } from './key-table.tsx'
import { RecentUseNote } from './recent-use-note.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

export function KeysPage() {
  const keys = useQuery(wholeListQuery('GET /v1/keys'))
  const [isCreating, setCreating] = useState(false)
  const [asked, setAsked] = useState<{ readonly key: ApiKey; readonly step: KeyStep }>()
  const done = () => setAsked(undefined)
  const createButton = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden className="size-4" />
      Create New Key
    </Button>
  )
  return (
    <Page
      title="API Keys"
      note="Every key has full access to this account. Use one for each application and environment, so that each can be replaced by itself."
      actions={createButton}
    >
      <LimitNotices exhausted={useExhausted('key')} />
      <Card>
        <QueryBoundary
          query={keys}
          empty={
            <EmptyState icon={<KeyRound />} title="No keys" action={createButton}>
              Applications send a key with every request. Without one, none can call a gate.
            </EmptyState>
          }
        >
          {(rows) => <KeyTable keys={rows} onChoose={(key, step) => setAsked({ key, step })} />}
        </QueryBoundary>
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
      {asked?.step === 'change' && <ChangeKeyDialog apiKey={asked.key} onClose={done} />}
      {asked?.step === 'rotate' && <RotateKeyDialog apiKey={asked.key} onClose={done} />}
      <DeleteKeyDialog doomed={asked?.step === 'delete' ? asked.key : undefined} onClose={done} />
    </Page>
  )
}

// Asks before a key is deleted, and says what will stop working.

function DeleteKeyDialog({
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

// Renames a key, or sets when it ends. It sends only what was changed: an expired key takes a name
// and nothing else.

const toFields = ({ name, expiresAt }: ApiKey): { name: string; expiry: Expiry } => ({
  name,
  expiry: expiresAt === null ? NEVER : { choice: 'keep', day: '' },
})

function ChangeKeyDialog({
  apiKey,
  onClose,
}: {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}) {
  const zone = useTimeZone()
  const edited = useEdited(apiKey, toFields)
  const { base, first, fields, change } = edited
  const { name, expiry } = fields
  const [isOver] = useState(() => hasExpired(apiKey, Date.now()))
  const isRenamed = name.trim() !== first.name
  const isOtherEnd = expiry.choice !== first.expiry.choice
  const save = useChange({
    send: async (isOverwriting: boolean) => {
      const expiresAt = toExpiresAt(expiry, { now: Date.now(), kept: base.expiresAt, zone })
      const question = {
        path: { id: apiKey.id },
        body: {
          ...(isRenamed ? { name: name.trim() } : {}),
          ...(isOtherEnd && expiresAt !== undefined
            ? { expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() }
            : {}),
        },
      }
      const isSame = (now: ApiKey) => now.name === base.name && now.expiresAt === base.expiresAt
      return await changeSame('PATCH /v1/keys/{id}', [question], isOverwriting ? undefined : isSame)
    },
    makesStale: ['GET /v1/keys'],
    done: (changed) => `Key “${changed.name}” saved`,
    onDone: onClose,
  })
  return (
    <Dialog isOpen onClose={onClose} title={`Edit “${apiKey.name}”`}>
      <Form onSubmit={() => save.mutate(false)} error={save.error} className="flex flex-col gap-4">
        <KeyNameField takesFocus name={name} onChange={(typed) => change({ name: typed })} />
        {isOver ? (
          <p className="text-[13px] text-ink-soft">
            This key has expired, and stays so. Create a new one in its place.
          </p>
        ) : (
          <ExpiryField
            expiry={expiry}
            onChange={(chosen) => change({ expiry: chosen })}
            kept={base.expiresAt}
          />
        )}
        <EditNotes thing="key" edited={edited} save={save} />
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

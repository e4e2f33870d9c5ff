import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { describeEndReport } from '../../format/end-report.ts'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { LimitNotices } from '../../ui/limit-notices.tsx'
import { Page } from '../../ui/page.tsx'
import {
  DeleteDialog,
  ResourceCard,
  type RowDialog,
  type RowDialogProps,
} from '../../ui/resource-page.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useExhausted } from '../../ui/use-exhausted.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { TagsField, UserField } from './attribution-fields.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { type Expiry, hasExpired, NEVER, toExpiresAt } from './expiry.ts'
import { ExpiryField, KeyNameField } from './key-fields.tsx'
import { type ApiKey, type KeyStep, KeyTable, useCreatedColumn } from './key-table.tsx'
import { RecentUseNote } from './recent-use-note.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import { toTags } from './token-draft.ts'
import { TokensCard } from './tokens-card.tsx'

type Key = RowOf<'GET /v1/keys'>

const DIALOGS: Readonly<Record<KeyStep, RowDialog<Key>>> = {
  change: ChangeKeyDialog,
  rotate: RotateKeyDialog,
  delete: DeleteKeyDialog,
}

export function KeysPage() {
  const createdColumn = useCreatedColumn()
  return (
    <Page
      title="Tokens and API Keys"
      note="Give each application, developer and environment its own, so that each can be replaced by itself."
    >
      <LimitNotices exhausted={useExhausted('key')} />
      <TokensCard />
      <ResourceCard
        list="GET /v1/keys"
        title="API keys"
        note="Each has full access to this account: calls, gates, keys, budgets, provider keys, members."
        many="API keys"
        icon={<KeyRound />}
        purpose="Administrators and automation use an API key to manage this account from programs."
        create={{ label: 'Create New Key', dialog: CreateKeyDialog }}
      >
        {(rows, open) => (
          <KeyTable
            rows={rows}
            words={{ label: 'API keys', thing: 'key', remove: 'Delete' }}
            last={createdColumn}
            onChoose={(key, step) => open(DIALOGS[step], key)}
          />
        )}
      </ResourceCard>
    </Page>
  )
}

function DeleteKeyDialog({ row: apiKey, onClose }: RowDialogProps<ApiKey>) {
  return (
    <DeleteDialog
      one="key"
      name={apiKey.name}
      send={() => ask('DELETE /v1/keys/{id}', { path: { id: apiKey.id } })}
      makesStale={['GET /v1/keys']}
      done={(report) => [
        `Key “${apiKey.name}” deleted`,
        {
          description: `Requests with the deleted key are refused from now on. ${describeEndReport(report)}`,
        },
      ]}
      onClose={onClose}
    >
      <p>The deletion takes effect at once and cannot be undone.</p>
      <RecentUseNote apiKey={apiKey} />
    </DeleteDialog>
  )
}

interface KeyFields {
  readonly name: string
  readonly expiry: Expiry
  readonly user: string
  readonly tags: string
}

const toFields = ({ name, expiresAt, user, tags }: Key): KeyFields => ({
  name,
  expiry: expiresAt === null ? NEVER : { choice: 'keep', day: '' },
  user: user ?? '',
  tags: tags.join(', '),
})

function ChangeKeyDialog({ row: apiKey, onClose }: RowDialogProps<Key>) {
  const zone = useTimeZone()
  const edited = useEdited(apiKey, toFields)
  const { base, first, fields, change, bind } = edited
  const { name, expiry } = fields
  const [isOver] = useState(() => hasExpired(apiKey, Date.now()))
  const isRenamed = name.trim() !== first.name
  const isOtherEnd = expiry.choice !== first.expiry.choice
  const isOtherUser = fields.user !== first.user
  const isOtherTags = toTags(fields.tags).join() !== toTags(first.tags).join()
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
          ...(isOtherUser && { user: fields.user === '' ? null : fields.user }),
          ...(isOtherTags && { tags: toTags(fields.tags) }),
        },
      }
      const isSame = (now: Key) =>
        JSON.stringify(toFields(now)) === JSON.stringify(toFields(base)) &&
        now.expiresAt === base.expiresAt
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
            This key has expired and cannot be renewed. Create a new key.
          </p>
        ) : (
          <ExpiryField
            expiry={expiry}
            onChange={(chosen) => change({ expiry: chosen })}
            kept={base.expiresAt}
          />
        )}
        <UserField {...bind('user')} />
        <TagsField {...bind('tags')} />
        <EditNotes thing="key" edited={edited} save={save} />
        <FormActions
          onCancel={onClose}
          isBusy={save.isPending}
          disabled={!(isRenamed || isOtherEnd || isOtherUser || isOtherTags)}
        >
          Save
        </FormActions>
      </Form>
    </Dialog>
  )
}

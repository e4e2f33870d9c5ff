import { Ticket } from 'lucide-react'
import { ask } from '../../api/ask.ts'
import { describeEndReport } from '../../format/end-report.ts'
import { GateLinks } from '../../ui/gate-links.tsx'
import {
  DeleteDialog,
  ResourceCard,
  type RowDialog,
  type RowDialogProps,
} from '../../ui/resource-page.tsx'
import { LiftStopDialog, StopDialog } from '../../ui/stop-dialogs.tsx'
import { CreateTokenDialog } from './create-key-dialog.tsx'
import { type KeyStep, KeyTable } from './key-table.tsx'
import { useOwnerNames } from './owner-names.ts'
import { RecentUseNote } from './recent-use-note.tsx'
import { RotateTokenDialog } from './rotate-key-dialog.tsx'
import type { AccessToken } from './token-draft.ts'
import { ChangeTokenDialog } from './token-form.tsx'

const DIALOGS: Readonly<Record<KeyStep, RowDialog<AccessToken>>> = {
  change: ChangeTokenDialog,
  rotate: RotateTokenDialog,
  delete: RevokeTokenDialog,
}

export function TokensCard() {
  return (
    <ResourceCard
      list="GET /v1/access-tokens"
      title="Access tokens"
      note="Access tokens are for applications and developers: a token can only call gates."
      many="access tokens"
      icon={<Ticket />}
      purpose="Applications and developers send a token with every request. It calls the gates that you choose, and can change nothing."
      create={{ label: 'Create Access Token', dialog: CreateTokenDialog }}
    >
      {(rows, open) => (
        <TokenTable
          rows={rows}
          words={{ label: 'Access tokens', thing: 'token', remove: 'Revoke' }}
          last={{
            title: 'Gates',
            isWideOnly: true,
            className: 'max-w-56 text-ink-soft',
            cell: (token) => <Gates token={token} />,
          }}
          phoneNote={(token) => (
            <span>
              Gates: <Gates token={token} />
            </span>
          )}
          onChoose={(token, step) => open(DIALOGS[step], token)}
          stops={{
            stopOf: ({ stop }) => stop,
            onStop: (token) => open(StopTokenDialog, token),
            onLift: (token) => open(LiftTokenDialog, token),
          }}
        />
      )}
    </ResourceCard>
  )
}

function TokenTable({
  rows,
  ...table
}: Omit<Parameters<typeof KeyTable<AccessToken>>[0], 'ownerOf'>) {
  const nameOf = useOwnerNames(rows.map(({ owner }) => owner))
  return <KeyTable rows={rows} ownerOf={({ owner }) => nameOf(owner)} {...table} />
}

function Gates({ token: { gates } }: { readonly token: AccessToken }) {
  return gates === null ? 'all gates' : <GateLinks gates={gates.map((id) => ({ id }))} />
}

function RevokeTokenDialog({ row: token, onClose }: RowDialogProps<AccessToken>) {
  return (
    <DeleteDialog
      one="token"
      name={token.name}
      title={`Revoke “${token.name}”?`}
      confirmLabel="Revoke the token"
      send={() => ask('DELETE /v1/access-tokens/{id}', { path: { id: token.id } })}
      makesStale={['GET /v1/access-tokens']}
      done={(report) => [
        `Token “${token.name}” revoked`,
        {
          description: `Requests with the revoked token are refused from now on. ${describeEndReport(report)}`,
        },
      ]}
      onClose={onClose}
    >
      <p>The revocation takes effect at once and cannot be undone.</p>
      <RecentUseNote apiKey={token} />
    </DeleteDialog>
  )
}

function StopTokenDialog({ row: { id, name }, onClose }: RowDialogProps<AccessToken>) {
  return (
    <StopDialog
      name={name}
      send={(body) => ask('POST /v1/access-tokens/{id}/stop', { path: { id }, body })}
      makesStale={['GET /v1/access-tokens']}
      onClose={onClose}
    >
      Running calls with the token end, and further calls are refused with status 403, until the
      stop is lifted.
    </StopDialog>
  )
}

function LiftTokenDialog({ row: { id, name, stop }, onClose }: RowDialogProps<AccessToken>) {
  return (
    <LiftStopDialog
      name={name}
      stop={stop}
      send={() => ask('DELETE /v1/access-tokens/{id}/stop', { path: { id } })}
      makesStale={['GET /v1/access-tokens']}
      onClose={onClose}
    >
      Calls with the token are accepted again.
    </LiftStopDialog>
  )
}

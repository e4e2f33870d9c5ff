/** Invitations that nobody has used yet, and the way to withdraw one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchedRows } from '../../ui/searched-rows.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'

type Invitation = RowOf<'GET /v1/invitations'>

export function InvitationsCard({
  members,
}: {
  readonly members: readonly RowOf<'GET /v1/members'>[]
}) {
  const invitations = useQuery(wholeListQuery('GET /v1/invitations'))
  const [doomed, setDoomed] = useState<Invitation>()
  const { data: keys } = useQuery(wholeListQuery('GET /v1/keys'))
  const nameOf = (id: string) => {
    const key = keys?.find((each) => each.id === id)
    return key === undefined
      ? (members.find((each) => each.id === id)?.name ?? id)
      : `Key “${key.name}”`
  }
  return (
    <Card>
      <CardHeader
        title="Open invitations"
        note="Each works once, within seven days, for its email address."
      />
      <QueryBoundary query={invitations}>
        {(rows) => {
          const open = rows.filter(({ status }) => status !== 'accepted')
          if (open.length === 0)
            return (
              <p className="px-5 py-6 text-sm text-ink-faint">Nobody is invited at the moment.</p>
            )
          return (
            <SearchedRows
              rows={open}
              thing="invitation"
              label="Find an invitation"
              textOf={({ email }) => email}
              searched="Email addresses are searched."
            >
              {(shown) => (
                <Table
                  label="Open invitations"
                  isStackedOnPhones
                  head={
                    <>
                      <Th>Email</Th>
                      <Th>Invited by</Th>
                      <Th>Created</Th>
                      <Th>Ends</Th>
                      <Th isHidden>Revoke</Th>
                    </>
                  }
                >
                  {shown.map((invitation) => (
                    <tr key={invitation.id}>
                      <td className="max-w-72 min-w-40 font-medium wrap-anywhere text-ink">
                        {invitation.email}
                      </td>
                      <td
                        data-label="Invited by"
                        className="max-w-64 min-w-28 wrap-anywhere text-ink-soft"
                      >
                        {nameOf(invitation.invitedBy)}
                      </td>
                      <td data-label="Created" className="text-ink-soft">
                        <Moment at={invitation.createdAt} />
                      </td>
                      <td data-label="Ends" className="text-ink-soft">
                        {invitation.status === 'expired' ? (
                          <Badge tone="warn">Expired</Badge>
                        ) : (
                          <Moment at={invitation.expiresAt} />
                        )}
                      </td>
                      <td className="text-right">
                        <Button
                          look="danger"
                          size="small"
                          aria-label={`Revoke the invitation of ${invitation.email}`}
                          onClick={() => setDoomed(invitation)}
                        >
                          Revoke
                        </Button>
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
            </SearchedRows>
          )
        }}
      </QueryBoundary>
      {doomed !== undefined && (
        <RevokeDialog invitation={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </Card>
  )
}

function RevokeDialog({
  invitation,
  onClose,
}: {
  readonly invitation: Invitation
  readonly onClose: () => void
}) {
  const revoke = useChange({
    send: () => ask('DELETE /v1/invitations/{id}', { path: { id: invitation.id } }),
    makesStale: ['GET /v1/invitations'],
    // Somebody may have come in by it a moment before.
    failureMakesStale: ['GET /v1/members'],
    done: `Invitation of ${invitation.email} revoked`,
    onDone: onClose,
  })
  return (
    <ConfirmChange
      onClose={onClose}
      title={`Revoke the invitation of ${invitation.email}?`}
      confirmLabel="Revoke the invitation"
      change={revoke}
    >
      <p>Its link stops working at once. You can invite the same address again, with a new link.</p>
    </ConfirmChange>
  )
}

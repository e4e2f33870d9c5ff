import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { RowButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EndMoment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { DeleteDialog } from '../../ui/resource-page.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { timeColumn } from '../../ui/table.tsx'

type Invitation = RowOf<'GET /v1/invitations'>

export function InvitationsCard({
  members,
}: {
  readonly members: readonly RowOf<'GET /v1/members'>[]
}) {
  const invitations = useQuery(wholeListQuery('GET /v1/invitations'))
  const [revoked, setRevoked] = useState<Invitation>()
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
              <p className="px-5 py-6 text-sm text-ink-faint">
                No invitation is open at the moment.
              </p>
            )
          return (
            <SearchedTable
              label="Open invitations"
              rows={open}
              thing="invitation"
              textOf={({ email }) => email}
              searched="Email addresses are searched."
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Email',
                  className: 'max-w-72 min-w-40 font-medium wrap-anywhere text-ink',
                  cell: ({ email }) => email,
                },
                {
                  title: 'Invited by',
                  isLabelled: true,
                  className: 'max-w-64 min-w-28 wrap-anywhere text-ink-soft',
                  cell: ({ invitedBy }) => nameOf(invitedBy),
                },
                timeColumn('Created', 'createdAt'),
                {
                  title: 'Ends',
                  isLabelled: true,
                  className: 'text-ink-soft',
                  cell: ({ status, expiresAt }) =>
                    status === 'expired' ? (
                      <Badge tone="warn">Expired</Badge>
                    ) : (
                      <EndMoment at={expiresAt} />
                    ),
                },
                {
                  title: 'Revoke',
                  isHidden: true,
                  className: 'text-right',
                  cell: (invitation) => (
                    <RowButton
                      look="danger"
                      act="Revoke"
                      of={`the invitation of ${invitation.email}`}
                      onClick={() => setRevoked(invitation)}
                    />
                  ),
                },
              ]}
            />
          )
        }}
      </QueryBoundary>
      {revoked !== undefined && (
        <DeleteDialog
          one="invitation"
          name={revoked.email}
          title={`Revoke the invitation of ${revoked.email}?`}
          confirmLabel="Revoke the invitation"
          send={() => ask('DELETE /v1/invitations/{id}', { path: { id: revoked.id } })}
          makesStale={['GET /v1/invitations']}
          failureMakesStale={['GET /v1/members']}
          done={`Invitation of ${revoked.email} revoked`}
          onClose={() => setRevoked(undefined)}
        >
          <p>
            The link of the invitation stops working at once. You can invite the same address again,
            with a new link.
          </p>
        </DeleteDialog>
      )}
    </Card>
  )
}

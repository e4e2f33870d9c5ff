/** The user's sessions, and the way to end one that is not this one. */
import { useQuery } from '@tanstack/react-query'
import { ask, type RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import { describeUserAgent } from './describe-user-agent.ts'

type Session = RowOf<'GET /v1/sessions'>

export function SessionsCard() {
  const sessions = useQuery(operationQuery('GET /v1/sessions'))
  const end = useChange({
    send: async (ended: readonly Session[]) => {
      for (const { id } of ended) await ask('DELETE /v1/sessions/{id}', { path: { id } })
      return ended.length
    },
    done: (count) => (count === 1 ? 'Session ended' : `${count} sessions ended`),
    saysFailure: true,
    makesStale: ['GET /v1/sessions'],
    failureMakesStale: ['GET /v1/sessions'],
  })
  const others = sessions.data?.data.filter(({ current }) => !current) ?? []
  return (
    <Card>
      <CardHeader
        title="Sessions"
        note="A session lasts seven days. One that you do not recognise: end it, and change the password."
      >
        {others.length > 1 && (
          <Button
            look="danger"
            size="small"
            isBusy={end.isPending}
            onClick={() => end.mutate(others)}
          >
            End all others
          </Button>
        )}
      </CardHeader>
      <QueryBoundary query={sessions}>
        {({ data: rows }) => (
          <Table
            label="Sessions"
            head={
              <>
                <Th>Device</Th>
                <Th>Address</Th>
                <Th>Signed in</Th>
                <Th>Ends</Th>
                <Th isHidden>End</Th>
              </>
            }
          >
            {rows.map((session) => (
              <tr key={session.id}>
                <td className="whitespace-nowrap text-ink" title={session.userAgent ?? undefined}>
                  <span className="mr-2 font-medium">{describeUserAgent(session.userAgent)}</span>
                  {session.current && <Badge tone="ok">This session</Badge>}
                </td>
                <td className="font-mono text-[13px] text-ink-soft">
                  {session.address ?? 'unknown'}
                </td>
                <td className="text-ink-soft">
                  <Moment at={session.createdAt} />
                </td>
                <td className="text-ink-soft">
                  <Moment at={session.expiresAt} />
                </td>
                <td>
                  <div className="flex min-h-7 justify-end">
                    {!session.current && (
                      <Button
                        look="danger"
                        size="small"
                        aria-label={`End the session with ${describeUserAgent(session.userAgent)}`}
                        disabled={end.isPending}
                        onClick={() => end.mutate([session])}
                      >
                        End
                      </Button>
                    )}
                  </div>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </QueryBoundary>
    </Card>
  )
}

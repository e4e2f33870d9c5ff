/**
 * The sessions and users that the fuse of a gate or a budget stopped. Shows nothing when there are
 * none.
 */
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { ask } from '../api/ask.ts'
import { operationQuery } from '../api/operation-query.ts'
import { nameOfStopped } from '../format/stopped-name.ts'
import { RowButton } from './button.tsx'
import { Card, CardHeader } from './card.tsx'
import { PageLink } from './links.tsx'
import { SearchedTable } from './searched-rows.tsx'
import { Sentence } from './sentence.tsx'
import { ProblemNote } from './states.tsx'
import { type FusedStop, useStoppedTogether } from './stopped-together.ts'
import { type Column, timeColumn } from './table.tsx'
import { useChange } from './use-change.ts'

const textOf = (stop: FusedStop) => `${nameOfStopped(stop)} ${stop.id}`

const OPERATIONS = {
  gate: ['GET /v1/gates/{id}/stops', 'DELETE /v1/gates/{id}/stops/{kind}/{head}'],
  budget: ['GET /v1/budgets/{id}/stops', 'DELETE /v1/budgets/{id}/stops/{kind}/{head}'],
} as const

const AGAIN_AFTER_MS = 15_000

export function FusedStops({
  owner: { type, id: ownerId },
  title,
  note,
}: {
  readonly owner: { readonly type: 'gate' | 'budget'; readonly id: string }
  readonly title: string
  readonly note: string
}) {
  const path = { id: ownerId }
  const [list, lifting] = OPERATIONS[type]
  const stops = useQuery({
    ...operationQuery(list, { path }),
    refetchInterval: AGAIN_AFTER_MS,
    staleTime: 0,
  })
  const lift = useChange({
    send: async (lifted: readonly FusedStop[]) => {
      for (const { kind, id } of lifted) await ask(lifting, { path: { ...path, kind, head: id } })
    },
    saysFailure: true,
    makesStale: [list, 'GET /v1/fuse-stops'],
    failureMakesStale: [list],
    done: (_, [first, ...others]) => [
      `Stop of “${first === undefined ? '' : nameOfStopped(first)}”${others.length === 0 ? '' : ` and ${countSessions(others)}`} lifted`,
      { description: 'The next call is served, and the fuse counts anew.' },
    ],
  })
  const rows = stops.data?.data ?? []
  const together = useStoppedTogether(rows, AGAIN_AFTER_MS)
  if (rows.length === 0) return isAbsent(stops.error) ? null : <ProblemNote error={stops.error} />
  return (
    <Card>
      <CardHeader title={<Sentence text={title} />} note={note} />
      <SearchedTable
        label={title}
        thing="stop"
        rows={rows}
        textOf={textOf}
        searched="The search looks at names and ids."
        keyOf={({ kind, id }) => `${kind}/${id}`}
        columns={toColumns(together, { rows, lift })}
      />
    </Card>
  )
}

/** An earlier version of the gateway has no such list. */
function isAbsent(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

interface Lift {
  readonly mutate: (stops: readonly FusedStop[]) => void
  readonly isPending: boolean
  readonly variables: readonly FusedStop[] | undefined
}

function toColumns(
  together: ReadonlyMap<string, readonly FusedStop[]>,
  { rows, lift }: { readonly rows: readonly FusedStop[]; readonly lift: Lift },
): readonly Column<FusedStop>[] {
  const users = rows.filter(({ kind, id }) => kind === 'user' && together.has(id))
  /** The names of the users who are stopped together with these sessions. */
  const userOf = new Map(
    users.flatMap((user) =>
      (together.get(user.id) ?? []).map((session) => [session, nameOfStopped(user)] as const),
    ),
  )
  return [
    {
      title: 'Who',
      className: 'min-w-40 wrap-anywhere',
      cell: (stop) => (
        <>
          <PageLink
            to={`/${stop.kind === 'session' ? 'sessions' : 'people'}/${encodeURIComponent(stop.id)}`}
          >
            <bdi>{nameOfStopped(stop)}</bdi>
          </PageLink>
          {userOf.has(stop) && (
            <span className="block text-xs text-ink-faint">
              of <bdi>{userOf.get(stop)}</bdi>
            </span>
          )}
        </>
      ),
    },
    timeColumn('Since', 'createdAt'),
    {
      title: 'Why',
      className: 'text-ink-soft',
      isLabelled: true,
      cell: ({ reason }) => describeReason(reason),
    },
    {
      title: 'Actions',
      isHidden: true,
      className: 'text-right',
      cell: (stop) => {
        const sessions = (stop.kind === 'user' && together.get(stop.id)) || []
        const name = nameOfStopped(stop)
        const isBusy = lift.isPending && lift.variables?.[0] === stop
        return (
          <div className="flex justify-end gap-2 max-sm:flex-col">
            {sessions.length > 0 && (
              <RowButton
                act={sessions.length === 1 ? 'Lift both' : `Lift all ${sessions.length + 1}`}
                of={`the stops of ${name} and ${countSessions(sessions)}`}
                title={`Also lifts ${countSessions(sessions)} of ${name}.`}
                isBusy={isBusy}
                onClick={() => lift.mutate([stop, ...sessions])}
              />
            )}
            <RowButton
              act="Lift"
              of={`the stop of ${name}`}
              isBusy={isBusy}
              onClick={() => lift.mutate([stop])}
            />
          </div>
        )
      },
    },
  ]
}

function countSessions({ length }: readonly FusedStop[]): string {
  return length === 1 ? 'one session' : `${length} sessions`
}

/** The gateway's reason is the end of a sentence: “it spent more than …”. */
function describeReason(reason: string | null): string {
  if (reason === null) return 'Unknown at the moment'
  const words = reason.replace(/^it /, '')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/**
 * The sessions and users that the fuse of a gate or a budget stopped. Shows nothing when there are
 * none.
 */
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { type AnswerOf, ask } from '../api/ask.ts'
import { operationQuery } from '../api/operation-query.ts'
import { nameOfStopped } from '../format/stopped-name.ts'
import { RowButton } from './button.tsx'
import { Card, CardHeader } from './card.tsx'
import { PageLink } from './links.tsx'
import { SearchedTable } from './searched-rows.tsx'
import { Sentence } from './sentence.tsx'
import { ProblemNote } from './states.tsx'
import { type Column, timeColumn } from './table.tsx'
import { useChange } from './use-change.ts'

type FusedStop = AnswerOf<'GET /v1/gates/{id}/stops'>['data'][number]

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
    send: ({ kind, id }: FusedStop) => ask(lifting, { path: { ...path, kind, head: id } }),
    saysFailure: true,
    makesStale: [list, 'GET /v1/fuse-stops'],
    done: (_, stop) => [
      `Stop of “${nameOfStopped(stop)}” lifted`,
      { description: 'The next call is served, and the fuse counts anew.' },
    ],
  })
  const rows = stops.data?.data ?? []
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
        columns={toColumns(lift)}
      />
    </Card>
  )
}

/** An earlier version of the gateway has no such list. */
function isAbsent(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

function toColumns(lift: {
  readonly mutate: (stop: FusedStop) => void
  readonly isPending: boolean
  readonly variables: FusedStop | undefined
}): readonly Column<FusedStop>[] {
  return [
    {
      title: 'Who',
      className: 'min-w-40 wrap-anywhere',
      cell: (stop) => (
        <PageLink
          to={`/${stop.kind === 'session' ? 'sessions' : 'people'}/${encodeURIComponent(stop.id)}`}
        >
          <bdi>{nameOfStopped(stop)}</bdi>
        </PageLink>
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
      cell: (stop) => (
        <RowButton
          act="Lift"
          of={`the stop of ${nameOfStopped(stop)}`}
          isBusy={lift.isPending && lift.variables === stop}
          onClick={() => lift.mutate(stop)}
        />
      ),
    },
  ]
}

/** The gateway's reason is the end of a sentence: “it spent more than …”. */
function describeReason(reason: string | null): string {
  if (reason === null) return 'Unknown at the moment'
  const words = reason.replace(/^it /, '')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

import { useInfiniteQuery } from '@tanstack/react-query'
import { History } from 'lucide-react'
import type { QueryOf } from '../../../src/contract/api-call.ts'
import { ask, type RowOf } from '../../api/ask.ts'
import { formatCount, formatShare, formatUsd, formatWhole } from '../../format/figures.ts'
import { nameOfCaller, nameOfUser } from '../../format/group-name.ts'
import type { Period } from '../../format/time-range.ts'
import { readErrors } from '../../format/usage-measures.ts'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { PagedRows } from '../../ui/paged-rows.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { type Column, ColumnTable } from '../../ui/table.tsx'

type Session = RowOf<'GET /v1/usage/sessions'>
export type SessionQuery = Pick<
  QueryOf<'GET /v1/usage/sessions'>,
  'user' | 'key' | 'session' | 'order'
>

const AT_ONCE = 50

/** The sessions whose last call is in the period. */
export function SessionTable({
  query,
  period,
  atOnce = AT_ONCE,
}: {
  readonly query: SessionQuery
  readonly period: Period
  readonly atOnce?: number
}) {
  const asked = {
    ...query,
    from: new Date(period.fromMs).toISOString(),
    to: new Date(period.toMs).toISOString(),
    limit: atOnce,
  }
  const pages = useInfiniteQuery({
    queryKey: ['GET /v1/usage/sessions', 'pages', asked],
    queryFn: ({ pageParam }) =>
      ask('GET /v1/usage/sessions', { query: { ...asked, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  if (pages.data === undefined)
    return pages.isError ? (
      <ErrorState error={pages.error} retry={() => void pages.refetch()} />
    ) : (
      <RowSkeletons />
    )
  const sessions = pages.data.pages.flatMap(({ data }) => data)
  if (sessions.length === 0)
    return (
      <EmptyState icon={<History />} title="No sessions in this range">
        Coding agents send a session with each call. Applications send the header{' '}
        <code className="font-mono text-xs">x-gatehouse-session</code>.
      </EmptyState>
    )
  // Of one user, the column would repeat the user's name.
  const columns = query.user === undefined ? COLUMNS : COLUMNS.filter(({ title }) => title !== WHO)
  return (
    <PagedRows pages={pages} count={sessions.length}>
      <ColumnTable label="Sessions" columns={columns} rows={sessions} keyOf={({ id }) => id} />
    </PagedRows>
  )
}

const WHO = 'Who'

const COLUMNS: readonly Column<Session>[] = [
  {
    title: 'Session',
    cell: ({ id }) => (
      <PageLink
        to={`/sessions/${id}`}
        className="inline-block max-w-[8ch] truncate align-bottom font-mono text-[13px]"
      >
        {id}
      </PageLink>
    ),
  },
  {
    title: WHO,
    className: 'min-w-32 wrap-anywhere',
    cell: (session) => <Caller session={session} />,
  },
  { title: 'First', isLabelled: true, cell: ({ firstAt }) => <Moment at={firstAt} /> },
  { title: 'Last', isLabelled: true, cell: ({ lastAt }) => <Moment at={lastAt} /> },
  figure('Calls', ({ calls }) => formatWhole(calls)),
  figure('Failed', (session) => formatWhole(readErrors(session).errors)),
  figure('Tokens', ({ tokens }) => formatCount(tokens.input + tokens.output)),
  figure('Cached', ({ tokens }) => formatShare(tokens.cachedInput / tokens.input)),
  figure('Largest input', ({ tokens }) => formatCount(tokens.largestInput)),
  figure('Cost', ({ cost }) => formatUsd(cost.usd)),
]

function figure(title: string, cell: (session: Session) => string): Column<Session> {
  return { title, cell, className: 'max-sm:text-left', isNumber: true, isLabelled: true }
}

/** The user of a session, or the key if no user is known. */
export function Caller({
  session: { user, userName, keyId, keyName },
}: {
  readonly session: Pick<Session, 'user' | 'userName' | 'keyId' | 'keyName'>
}) {
  return user === null ? (
    <PageLink to={`/keys/${encodeURIComponent(keyId)}`}>{nameOfCaller(keyId, keyName)}</PageLink>
  ) : (
    <PageLink to={`/people/${encodeURIComponent(user)}`}>{nameOfUser(user, userName)}</PageLink>
  )
}

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronRight, ScrollText } from 'lucide-react'
import { useId, useState } from 'react'
import { askWith, type RowOf } from '../../api/ask.ts'
import { nameZone } from '../../format/time-zone.ts'
import { formatDateTime } from '../../format/times.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { AuditFilter } from './audit-filter.tsx'
import { type AuditSearch, describeChange, readAuditSearch, toAuditQuery } from './audit-search.ts'
import { type FieldChange, listChanges } from './list-changes.ts'

const PAGE_SIZE = 50

export function AuditLogPage() {
  const search = readAuditSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const zone = useTimeZone()
  const log = useInfiniteQuery({
    queryKey: ['GET /v1/audit-log', search, zone],
    queryFn: ({ signal, pageParam }) =>
      askWith(
        'GET /v1/audit-log',
        { signal },
        {
          query: { ...toAuditQuery(search, zone), limit: PAGE_SIZE, cursor: pageParam },
        },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const choose = (next: AuditSearch) =>
    void navigate({ to: '/settings/audit-log', search: next, replace: true })
  const entries = log.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = Object.keys(search).length > 0
  return (
    <Card>
      <CardHeader
        title="Audit log"
        note="Every change of this account, newest first. Open one to see what it changed."
      />
      <AuditFilter search={search} seen={entries} onChange={choose} />
      {log.isPending && <RowSkeletons />}
      {log.isError && entries.length === 0 && (
        <ErrorState error={log.error} retry={() => void log.refetch()} />
      )}
      {log.isSuccess && entries.length === 0 && (
        <EmptyState
          icon={<ScrollText />}
          title={isFiltered ? 'Nothing matches' : 'No changes yet'}
          action={isFiltered && <Button onClick={() => choose({})}>Show all changes</Button>}
        >
          {isFiltered
            ? 'No change in the log matches.'
            : 'Changes of keys, gates, budgets and other resources appear here.'}
        </EmptyState>
      )}
      {entries.length > 0 && (
        <Table
          label="Changes"
          isStackedOnPhones
          head={
            <>
              <Th>Change</Th>
              <Th>Of</Th>
              <Th>By</Th>
              <Th>When</Th>
            </>
          }
        >
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} />
          ))}
        </Table>
      )}
      {log.hasNextPage && (
        <div className="flex justify-center border-t border-line p-3">
          <Button
            size="small"
            isBusy={log.isFetchingNextPage}
            onClick={() => void log.fetchNextPage()}
          >
            Older changes
          </Button>
        </div>
      )}
    </Card>
  )
}

type AuditEntry = RowOf<'GET /v1/audit-log'>

function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <tr className={classNames(isOpen && 'bg-sunken/60')}>
        <td className="whitespace-nowrap">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
            className="-ml-1.5 flex items-center gap-1.5 rounded-md px-1.5 py-0.5 font-medium text-ink"
          >
            <ChevronRight
              aria-hidden
              className={classNames(
                'size-4 text-ink-faint transition-transform',
                isOpen && 'rotate-90',
              )}
            />
            {describeChange(entry)}
          </button>
        </td>
        <td className="max-w-64 truncate text-ink-soft" title={entry.resourceId}>
          {nameOf(entry)}
        </td>
        <td data-label="By" className="whitespace-nowrap text-ink-soft max-sm:whitespace-normal">
          {describeActor(entry.actor)}
        </td>
        <td className="text-ink-soft">
          <Moment at={entry.at} />
        </td>
      </tr>
      {isOpen && (
        <tr id={id} className="!border-t-0 bg-sunken/60">
          <td colSpan={4} className="!pt-0">
            <AuditDetails entry={entry} />
          </td>
        </tr>
      )}
    </>
  )
}

function AuditDetails({ entry }: { readonly entry: AuditEntry }) {
  const changes = listChanges(entry.before, entry.after)
  const zone = useTimeZone()
  const facts: readonly (readonly [what: string, fact: string | null])[] = [
    ['Action', entry.action],
    ['Id', entry.resourceId],
    ['At', `${formatDateTime(entry.at, zone)} (${nameZone(zone)})`],
    ['From', entry.clientAddress],
    ['Request', entry.requestId],
  ]
  return (
    <div className="flex flex-col gap-4 pl-6">
      {changes.length === 0 ? (
        <p className="text-[13px] text-ink-faint">
          The change altered no value that is shown here.
        </p>
      ) : (
        <Changes
          changes={changes}
          kind={entry.before === null ? 'made' : entry.after === null ? 'gone' : 'changed'}
        />
      )}
      <dl className="flex flex-wrap gap-x-6 gap-y-1.5 text-xs">
        {facts.map(
          ([what, fact]) =>
            fact !== null && (
              <div key={what} className="flex gap-1.5">
                <dt className="text-ink-faint">{what}</dt>
                <dd className="font-mono break-all text-ink-soft">{fact}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  )
}

function Changes({
  changes,
  kind,
}: {
  readonly changes: readonly FieldChange[]
  readonly kind: 'made' | 'gone' | 'changed'
}) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <table className="w-full table-fixed text-left text-[13px] [&_td]:!px-3 [&_td]:!py-1.5 [&_td]:!align-top">
        <thead>
          <tr className="text-xs text-ink-faint [&_th]:px-3 [&_th]:py-1.5 [&_th]:font-medium">
            <th scope="col" className="w-1/4">
              Field
            </th>
            {kind !== 'made' && <th scope="col">Before</th>}
            {kind !== 'gone' && <th scope="col">After</th>}
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, before, after }) => (
            <tr key={field} className="hover:!bg-transparent">
              <td className="font-mono break-words text-ink-soft">{field}</td>
              {kind !== 'made' && (
                <Side text={before} look={kind === 'changed' ? 'before' : 'plain'} />
              )}
              {kind !== 'gone' && (
                <Side text={after} look={kind === 'changed' ? 'after' : 'plain'} />
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const LOOKS = {
  before: 'bg-danger-soft text-danger',
  after: 'bg-ok-soft text-ok',
  plain: 'text-ink',
} as const

function Side({
  text,
  look,
}: {
  readonly text: string | undefined
  readonly look: keyof typeof LOOKS
}) {
  if (text === undefined) return <td className="text-ink-faint">–</td>
  return (
    <td>
      <span
        className={classNames(
          'rounded px-1 font-mono break-words box-decoration-clone',
          LOOKS[look],
        )}
      >
        {text}
      </span>
    </td>
  )
}

function describeActor({ type, id, name }: AuditEntry['actor']): string {
  if (type === 'operator') return 'The operator'
  if (type === 'fuse') return `The fuse of ${id}`
  return type === 'key' ? `Key “${name ?? id}”` : (name ?? id)
}

function nameOf({ before, after, resourceId }: AuditEntry): string {
  const form = after ?? before
  for (const field of ['displayName', 'name', 'email', 'url']) {
    const name = form?.[field]
    if (typeof name === 'string' && name !== '') return name
  }
  return resourceId
}

/** The audit log: filtered by the address, read a page at a time. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ScrollText } from 'lucide-react'
import { askWith } from '../../api/ask.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { AuditFilter } from './audit-filter.tsx'
import { AuditRow } from './audit-row.tsx'
import { type AuditSearch, readAuditSearch, toAuditQuery } from './audit-search.ts'

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
            ? 'No change in the log is like that.'
            : 'Once somebody makes a key, a gate or a budget, it is written down here.'}
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

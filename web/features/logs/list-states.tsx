/** The list of calls where it has no rows, or not yet all of them. */
import { ListFilter, ScrollText } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { isFiltered, type LogSearch } from './log-filter.ts'
import type { LogRows } from './use-log-rows.ts'

export function EmptyLog({
  log,
  search,
  onClear,
}: {
  readonly log: LogRows
  readonly search: LogSearch
  readonly onClear: () => void
}) {
  const frame = (content: ReactNode) => (
    <div className="min-h-0 flex-1 overflow-y-auto">{content}</div>
  )
  if (log.error !== null) return frame(<ErrorState error={log.error} retry={log.reload} />)
  if (log.isLoading) return frame(<RowSkeletons count={8} />)
  if (!isFiltered(search)) {
    return frame(
      <EmptyState icon={<ScrollText />} title="No calls yet">
        Every call through a gate leaves a line here, about a second after it has ended: who called,
        which target answered, how long it took, what it cost. Send one with any of your API keys.
      </EmptyState>,
    )
  }
  return frame(
    <EmptyState
      icon={<ListFilter />}
      title="No call passes these filters"
      action={<Button onClick={onClear}>Clear the filters</Button>}
    >
      Refused calls are in the log like all others. Only calls with a key that Gatehouse does not
      know are not.
    </EmptyState>,
  )
}

export function MoreRows({ log }: { readonly log: LogRows }) {
  if (log.moreError !== null) return <ErrorState error={log.moreError} retry={log.loadMore} />
  if (!log.hasMore) return null
  return (
    <p className="px-4 py-3 text-center text-xs text-ink-faint">
      {log.rows.length === 0 ? 'Looking further back…' : 'Loading older calls…'}
    </p>
  )
}

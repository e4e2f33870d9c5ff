/**
 * Shows everything in the log about a call: beside the list if the screen is wide enough, otherwise
 * as a page.
 */
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { EmptyState, ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { CallSections } from './call-sections.tsx'
import type { Log } from './log-filter.ts'
import { StatusBadge } from './status-badge.tsx'

export interface CallDetailsProps {
  readonly callId: string
  readonly row: Log | undefined
  readonly onClose: () => void
  readonly onNewer: (() => void) | undefined
  readonly onOlder: (() => void) | undefined
}

export function CallDetails({ callId, row, onClose, onNewer, onOlder }: CallDetailsProps) {
  const query = useQuery(operationQuery('GET /v1/logs/{id}', { path: { id: callId } }))
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // When shown alone, the heading gets the focus; beside the list, the list keeps the keyboard.
    if (document.getElementById('log-grid')?.offsetParent == null) heading.current?.focus()
  }, [])
  const log = query.data ?? row
  return (
    <aside
      aria-label="Call"
      className="flex min-h-0 w-full flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-card xl:w-[26rem] xl:shrink-0"
    >
      <header className="flex items-center gap-1 border-b border-line py-2 pr-2 pl-4">
        <h2
          ref={heading}
          tabIndex={-1}
          className="mr-auto flex min-w-0 items-center gap-2 text-sm font-semibold text-ink focus:outline-none"
        >
          Call {log !== undefined && <StatusBadge log={log} />}
        </h2>
        <IconButton
          size="small"
          label="Newer call (k)"
          disabled={onNewer === undefined}
          onClick={onNewer}
        >
          <ChevronUp aria-hidden className="size-4" />
        </IconButton>
        <IconButton
          size="small"
          label="Older call (j)"
          disabled={onOlder === undefined}
          onClick={onOlder}
        >
          <ChevronDown aria-hidden className="size-4" />
        </IconButton>
        <IconButton size="small" label="Close (Esc)" onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </header>
      {log === undefined ? (
        <NotThere callId={callId} query={query} onClose={onClose} />
      ) : (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
          tabIndex={0}
          aria-label="Details"
          className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
        >
          <CallSections log={log} details={query.data} />
        </section>
      )}
    </aside>
  )
}

function NotThere({
  callId,
  query,
  onClose,
}: {
  readonly callId: string
  readonly query: { readonly isPending: boolean; readonly error: unknown; refetch(): unknown }
  readonly onClose: () => void
}) {
  if (query.isPending) return <RowSkeletons count={6} />
  if (!(query.error instanceof ApiError) || query.error.status !== 404) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />
  }
  return (
    <EmptyState
      title="No such call in the log"
      action={
        <div className="flex gap-2">
          <Button size="small" onClick={() => void query.refetch()}>
            Look again
          </Button>
          <Button size="small" onClick={onClose}>
            To the list
          </Button>
        </div>
      }
    >
      <code className="font-mono text-xs break-all">{callId}</code> was refused before it was
      admitted (a wrong key, an invalid body, a limit), ended within the last second, or is older
      than the log is kept.
    </EmptyState>
  )
}

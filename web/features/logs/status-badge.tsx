import { Badge } from '../../ui/badge.tsx'
import { nameError } from './explain-error.ts'
import type { Log } from './log-filter.ts'

export function StatusBadge({ log }: { readonly log: Log }) {
  const { outcome, errorKind, refusals } = log
  const status = <span className="tabular-nums">{log.status}</span>
  if (outcome === 'succeeded') {
    return (
      <span className="inline-flex h-5.5 items-center gap-1.5 text-xs font-medium text-ink-soft">
        <span aria-hidden className="size-1.5 rounded-full bg-ok" />
        {status} succeeded
      </span>
    )
  }
  // A row may represent many refused calls.
  const times = refusals === null || refusals === 1 ? '' : ` ×${refusals}`
  const word = (outcome === 'failed' && errorKind !== null ? nameError(errorKind) : outcome) + times
  return (
    <span title={word} className="inline-flex max-w-full overflow-hidden rounded-full *:min-w-0">
      <Badge tone={outcome === 'failed' ? 'danger' : 'warn'}>
        <span className="truncate">
          {status} {word}
        </span>
      </Badge>
    </span>
  )
}

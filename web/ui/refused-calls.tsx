import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AnswerOf } from '../api/ask.ts'
import { operationQuery } from '../api/operation-query.ts'
import { formatCount } from '../format/figures.ts'
import type { Period } from '../format/time-range.ts'
import { Card, CardHeader } from './card.tsx'
import { ErrorState } from './states.tsx'

type Reason = AnswerOf<'GET /v1/analytics/refused'>['data'][number]

// A plain string, because the page belongs to a feature.
const LOGS: string = '/logs'

export function RefusedCalls({
  period,
  filters = {},
  everyMs = false,
}: {
  readonly period: Period
  readonly filters?: { readonly gate?: string; readonly key?: string }
  readonly everyMs?: number | false
}) {
  const range = {
    from: new Date(period.fromMs).toISOString(),
    to: new Date(period.toMs).toISOString(),
  }
  const query = useQuery({
    ...operationQuery('GET /v1/analytics/refused', {
      query: { ...range, ...filters, interval: 'all' },
    }),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  })
  const reasons = query.data?.data ?? []
  const total = reasons.reduce((sum, { calls }) => sum + calls, 0)
  if (query.isError && query.data === undefined)
    return (
      <Card>
        <CardHeader title="Refused calls" />
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </Card>
    )
  // Most accounts have no refused calls, and need no empty frame.
  if (total === 0) return null
  return (
    <Card>
      <CardHeader
        title={`Refused calls: ${formatCount(total)}`}
        note="They were refused before any provider was asked: they cost nothing, and are in no error rate. The figure Calls includes only those refused after admission."
      />
      <ul aria-label="Reasons" className="flex flex-col py-1.5 text-[13px]">
        {reasons.map((reason) => (
          <li
            key={`${reason.status} ${reason.errorKind}`}
            className="flex justify-between gap-3 px-5 py-1.5"
          >
            <Link
              to={LOGS}
              search={{ ...range, ...filters, ...toLogFilter(reason) }}
              className="truncate rounded-sm font-medium text-ink hover:underline"
            >
              {reason.status} {reason.errorKind?.replaceAll('_', ' ')}
            </Link>
            <span className="shrink-0 tabular-nums text-ink-soft">
              {formatCount(reason.calls)}
              <span className="sr-only"> calls</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function toLogFilter({ status, errorKind }: Reason): Readonly<Record<string, string>> {
  return { status: String(status), ...(errorKind === null ? {} : { errorKind }) }
}

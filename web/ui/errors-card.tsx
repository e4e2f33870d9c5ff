/** Errors by kind. Sums do not tell kinds apart, so the last failed calls are counted. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'
import { toLogAddress } from '../format/calls-behind.ts'
import { formatWhole } from '../format/figures.ts'
import type { Period } from '../format/time-range.ts'
import { Card, CardHeader } from './card.tsx'
import { countErrors } from './count-errors.ts'
import { PageLink } from './links.tsx'
import { QueryBoundary } from './query-boundary.tsx'
import type { SumFilters } from './usage-card.tsx'

const COUNTED = 200

export function ErrorsCard({
  filters,
  period,
}: {
  readonly filters: SumFilters
  readonly period: Period
}) {
  const failed = useQuery({
    ...operationQuery('GET /v1/logs', {
      query: {
        from: new Date(period.fromMs).toISOString(),
        to: new Date(period.toMs).toISOString(),
        ...filters,
        ...{ outcome: 'failed', limit: COUNTED },
      },
    }),
    placeholderData: keepPreviousData,
  })
  const isPart = failed.data?.nextCursor != null
  return (
    <Card className="min-w-0">
      <CardHeader
        title="Errors by kind"
        {...(isPart && { note: `Of the last ${COUNTED} failed calls of this range.` })}
      />
      <QueryBoundary query={failed}>
        {({ data }) => {
          const kinds = countErrors(data)
          return kinds.length === 0 ? (
            <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
              No call failed after a provider was asked
            </p>
          ) : (
            <ul aria-label="Errors by kind" className="flex flex-col py-1.5 text-[13px]">
              {kinds.map(({ status, errorKind, calls }) => (
                <li
                  key={`${status} ${errorKind}`}
                  className="flex justify-between gap-3 px-5 py-1.5"
                >
                  <PageLink
                    to="/logs"
                    search={toLogAddress({
                      period,
                      filters: {
                        ...filters,
                        ...{ outcome: 'failed', status: String(status) },
                        errorKind: errorKind ?? undefined,
                      },
                    })}
                  >
                    {status} {errorKind?.replaceAll('_', ' ')}
                  </PageLink>
                  <span className="shrink-0 text-ink-soft tabular-nums">
                    {formatWhole(calls)}
                    <span className="sr-only"> calls</span>
                  </span>
                </li>
              ))}
            </ul>
          )
        }}
      </QueryBoundary>
    </Card>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { AnswerOf, RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import { readErrors } from '../../format/usage-measures.ts'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'

const DAY_MS = 86_400_000

export function RecentUseNote({
  apiKey,
}: {
  readonly apiKey: Omit<RowOf<'GET /v1/keys'>, 'user'>
}) {
  const from = useMemo(() => new Date(Date.now() - DAY_MS).toISOString(), [])
  const usage = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { key: apiKey.id, from, interval: 'all', percentiles: false },
    }),
  )
  if (usage.isError) return <p className="mt-2">The recent use could not be loaded.</p>
  if (usage.data === undefined) return <p className="mt-2">Looking up what uses it…</p>
  const calls = usage.data.data.reduce((sum, { calls }) => sum + calls, 0)
  if (calls === 0)
    return <p className="mt-2">This credential made no calls in the last 24 hours.</p>
  return (
    <p className="mt-3 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
      <strong className="font-semibold">
        {calls === 1 ? '1 call' : `${formatWhole(calls)} calls`}
      </strong>{' '}
      used this credential in the last 24 hours, the last one <Moment at={apiKey.lastUsedAt} />.
      Calls like these will fail with status 401.{' '}
      <PageLink to="/logs" search={{ key: apiKey.id }}>
        See its logs
      </PageLink>
    </p>
  )
}

export interface RecentUse {
  readonly calls: number
  /** Without refused calls, as on all pages. */
  readonly errors: number
}

type Sums = AnswerOf<'GET /v1/analytics'>['data']

export function toRecentUse(sums: Sums): (keyId: string) => RecentUse | undefined {
  const useOf = new Map(
    sums
      .filter(({ isRest }) => !isRest)
      .map((sum) => [sum.group, { calls: sum.calls, errors: readErrors(sum).errors }]),
  )
  const isWhole = !sums.some(({ isRest }) => isRest)
  return (keyId) => useOf.get(keyId) ?? (isWhole ? { calls: 0, errors: 0 } : undefined)
}

/** The last 24 hours, rounded down to the hour. */
export function useRecentUse(): (keyId: string) => RecentUse | undefined {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  const sums = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { from, interval: 'all', group_by: 'key', limit: 1_000, percentiles: false },
    }),
  )
  return sums.data === undefined ? () => undefined : toRecentUse(sums.data.data)
}

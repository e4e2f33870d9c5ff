import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { readErrors } from '../../format/usage-measures.ts'

const DAY_MS = 86_400_000

export interface RecentCalls {
  readonly calls: number | undefined
  readonly errors: number | undefined
}

const UNKNOWN: RecentCalls = { calls: undefined, errors: undefined }
const NONE: RecentCalls = { calls: 0, errors: 0 }

/** The answer lists the gates with the most calls, so other gates may be unknown. */
export function useRecentCalls(): (gateId: string) => RecentCalls {
  const from = useMemo(() => new Date(Date.now() - DAY_MS).toISOString(), [])
  const usage = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { from, interval: 'all', group_by: 'gate', limit: 1_000, percentiles: false },
    }),
  )
  const rows = usage.data?.data
  return (gateId) => {
    if (rows === undefined) return UNKNOWN
    const found = rows.find(({ group, isRest }) => group === gateId && !isRest)
    if (found !== undefined) return { calls: found.calls, errors: readErrors(found).errors }
    return rows.some(({ isRest }) => isRest) ? UNKNOWN : NONE
  }
}

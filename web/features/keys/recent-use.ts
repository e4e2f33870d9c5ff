/** The recent use of each key, from one answer for all of them. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AnswerOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'

const DAY_MS = 86_400_000

export interface RecentUse {
  readonly calls: number
  readonly errors: number
}

type Sums = AnswerOf<'GET /v1/analytics'>['data']

/**
 * @returns of a key's id its use; undefined where it is not known: the answer tells only the
 * busiest apart
 */
export function toRecentUse(sums: Sums): (keyId: string) => RecentUse | undefined {
  const useOf = new Map(sums.filter(({ isRest }) => !isRest).map((sum) => [sum.group, sum]))
  const isWhole = !sums.some(({ isRest }) => isRest)
  return (keyId) => useOf.get(keyId) ?? (isWhole ? { calls: 0, errors: 0 } : undefined)
}

/** Of the last 24 hours, and of the hour in which they began. */
export function useRecentUse(): (keyId: string) => RecentUse | undefined {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  const sums = useQuery(
    operationQuery('GET /v1/analytics', {
      query: { from, interval: 'all', group_by: 'key', limit: 1_000 },
    }),
  )
  return sums.data === undefined ? () => undefined : toRecentUse(sums.data.data)
}

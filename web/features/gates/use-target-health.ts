/** The health of the account's targets as this node sees it, refreshed while someone looks. */
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import type { TargetHealth } from './health-badge.tsx'

const AGAIN_AFTER_MS = 5_000

/** When the answering node started; undefined while unknown. */
export function useSeenSince(): string | undefined {
  return useQuery(operationQuery('GET /v1/targets/health')).data?.seenSince
}

/** Undefined while loading. */
export function useTargetHealth(): ((target: string) => TargetHealth | undefined) | undefined {
  const health = useQuery({
    ...operationQuery('GET /v1/targets/health'),
    refetchInterval: AGAIN_AFTER_MS,
    staleTime: 0,
  })
  if (health.data === undefined) return undefined
  const { data, seenSince } = health.data
  const byTarget = new Map(data.map((row) => [row.target, { ...row, seenSince }]))
  return (target) => byTarget.get(target)
}

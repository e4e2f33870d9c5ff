import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'
import type { TargetHealth } from './health-badge.tsx'

const AGAIN_AFTER_MS = 5_000

export function useSeenSince(): string | undefined {
  return useQuery(operationQuery('GET /v1/targets/health')).data?.seenSince
}

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

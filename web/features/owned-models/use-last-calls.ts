import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import type { OwnedModel } from './draft.ts'
import { callNewerThan, type LastCall } from './latest-news.ts'

const AGAIN_AFTER_MS = 5_000

export function useLastCalls(): (model: OwnedModel) => LastCall | undefined {
  const health = useQuery({
    ...operationQuery('GET /v1/targets/health'),
    refetchInterval: AGAIN_AFTER_MS,
    staleTime: 0,
  })
  const byTarget = new Map(health.data?.data.map((row) => [row.target, row]))
  return ({ slug, probe }) => callNewerThan(probe, byTarget.get(`owned/${slug}`))
}

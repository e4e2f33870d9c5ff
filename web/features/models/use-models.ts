import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { countCalls, toModelRows } from './model-rows.ts'

const DAYS = 30
const DAY_MS = 86_400_000
/** The most groups that one answer lists. */
const MOST_GROUPS = 1_000

export function useModels() {
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const models = useQuery(operationQuery('GET /v1/provider-models'))
  const owned = useQuery(wholeListQuery('GET /v1/owned-models'))
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const rows = useMemo(
    () =>
      providers.data &&
      models.data &&
      owned.data &&
      gates.data &&
      toModelRows({
        providers: providers.data.data,
        models: models.data.data,
        ownedModels: owned.data,
        gates: gates.data,
      }),
    [providers.data, models.data, owned.data, gates.data],
  )
  const queries = [providers, models, owned, gates]
  return {
    rows,
    maySetPrices: models.data?.maySetPrices === true,
    error: queries.find(({ isError }) => isError)?.error,
    retry: () => {
      for (const query of queries) if (query.isError) void query.refetch()
    },
  }
}

export function useModelCalls() {
  const [from] = useState(() => new Date(Date.now() - DAYS * DAY_MS).toISOString())
  const range = { from, interval: 'all', limit: MOST_GROUPS, percentiles: false } as const
  const targets = useQuery(
    operationQuery('GET /v1/analytics', { query: { ...range, group_by: 'target' } }),
  )
  const gates = useQuery(
    operationQuery('GET /v1/analytics', { query: { ...range, group_by: 'gate' } }),
  )
  return useMemo(
    () => countCalls({ targets: targets.data?.data, gates: gates.data?.data }),
    [targets.data, gates.data],
  )
}

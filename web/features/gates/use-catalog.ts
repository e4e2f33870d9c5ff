/**
 * The catalog for choosing targets. Loaded when an editor opens, and kept, because the catalog only
 * changes with versions of the gateway.
 */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { type ModelOption, toModelOptions, toTypedTarget } from './model-search.ts'

const NOTHING: readonly never[] = []

export interface TargetCatalog {
  readonly options: readonly ModelOption[]
  readonly optionOf: (target: string) => ModelOption | undefined
  readonly isKnownProvider: (id: string) => boolean
  /** Whether only other models of the target's provider are listed. */
  readonly isUnknownModel: (target: string) => boolean
  readonly isLoading: boolean
}

export function useCatalog(): TargetCatalog {
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const models = useQuery({
    ...operationQuery('GET /v1/provider-models'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const owned = useQuery(wholeListQuery('GET /v1/owned-models'))
  const keys = useQuery(wholeListQuery('GET /v1/provider-keys'))
  const options = useMemo(
    () =>
      toModelOptions({
        providers: providers.data?.data ?? NOTHING,
        models: models.data?.data ?? NOTHING,
        ownedModels: owned.data ?? NOTHING,
        ownKeys: new Set(keys.data?.filter(({ active }) => active).map(({ provider }) => provider)),
      }),
    [providers.data, models.data, owned.data, keys.data],
  )
  const byTarget = useMemo(
    () => new Map(options.map((option) => [option.target, option])),
    [options],
  )
  const listing = useMemo(
    () => new Set(models.data?.data.map(({ provider }) => provider)),
    [models.data],
  )
  const ids = useMemo(() => new Set(providers.data?.data.map(({ id }) => id)), [providers.data])
  return {
    options,
    optionOf: (target) => byTarget.get(target),
    isKnownProvider: (id) => providers.data === undefined || id === 'owned' || ids.has(id),
    isUnknownModel: (target) => {
      const provider = target.slice(0, target.indexOf('/'))
      return listing.has(provider) && toTypedTarget(target) !== undefined && !byTarget.has(target)
    },
    isLoading: providers.isPending || models.isPending,
  }
}

import type { RowOf } from '../../api/ask.ts'
import { newestFirst } from '../../format/newest-first.ts'

export interface ModelOption {
  readonly target: string
  readonly providerName: string
  readonly name: string | undefined
  readonly isConfigured: boolean
  /** US dollars per million tokens. */
  readonly inputUsd: number | null
  readonly outputUsd: number | null
}

export interface Catalog {
  readonly providers: readonly RowOf<'GET /v1/providers'>[]
  readonly models: readonly RowOf<'GET /v1/provider-models'>[]
  readonly ownedModels: readonly RowOf<'GET /v1/owned-models'>[]
  readonly ownKeys: ReadonlySet<string>
}

const OWNED = 'owned'

/**
 * The account's own models first, then reachable targets, then the rest; within a provider newer
 * models first.
 */
export function toModelOptions({
  providers,
  models,
  ownedModels,
  ownKeys,
}: Catalog): readonly ModelOption[] {
  const byId = new Map(providers.map((provider) => [provider.id, provider]))
  const isConfigured = (id: string) => byId.get(id)?.configured === true || ownKeys.has(id)
  const owned = ownedModels.map((model) => ({
    target: `${OWNED}/${model.slug}`,
    providerName: 'Owned models',
    name: model.displayName,
    isConfigured: true,
    inputUsd: model.pricingInput / 100,
    outputUsd: model.pricingOutput / 100,
  }))
  const listed = newestOfEachFirst(models).map((model) => ({
    target: `${model.provider}/${model.id}`,
    providerName: byId.get(model.provider)?.name ?? model.provider,
    name: model.name ?? undefined,
    isConfigured: isConfigured(model.provider),
    inputUsd: model.inputUsdPerMillion,
    outputUsd: model.outputUsdPerMillion,
  }))
  const [ready, others] = [true, false].map((wanted) =>
    listed.filter((one) => one.isConfigured === wanted),
  )
  return [...owned, ...(ready ?? []), ...(others ?? [])]
}

function newestOfEachFirst(models: Catalog['models']): Catalog['models'] {
  const byProvider = Map.groupBy(models, ({ provider }) => provider)
  return [...byProvider.values()].flatMap(newestFirst)
}

/** Every word must occur in the target, the model's name or the provider's name. */
export function searchModels(
  options: readonly ModelOption[],
  text: string,
  limit: number,
): readonly ModelOption[] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return options.slice(0, limit)
  const found = options.flatMap((option, index) => {
    const place = `${option.target} ${option.name ?? ''} ${option.providerName}`.toLowerCase()
    return words.every((word) => place.includes(word))
      ? [{ option, index, rank: rankOf(option, wanted) }]
      : []
  })
  return found
    .toSorted((left, right) => left.rank - right.rank || left.index - right.index)
    .slice(0, limit)
    .map(({ option }) => option)
}

function rankOf({ target, isConfigured }: ModelOption, wanted: string): number {
  const name = target.toLowerCase()
  if (name === wanted) return 0
  const model = name.slice(name.indexOf('/') + 1)
  const match = model === wanted || name.startsWith(wanted) ? 1 : model.startsWith(wanted) ? 2 : 3
  return match + (isConfigured ? 0 : 3)
}

export function toTypedTarget(text: string): string | undefined {
  const typed = text.trim()
  return /^[^\s/]+\/\S+$/.test(typed) ? typed : undefined
}

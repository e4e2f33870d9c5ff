/** The rows of the Models page: providers' models, owned models and gates in one form. */
import type { AnswerOf, RowOf } from '../../api/ask.ts'
import { findByWords } from '../../format/find-by-words.ts'
import { newestFirst } from '../../format/newest-first.ts'
import { listUnpriced, type UnpricedTarget } from '../../format/unpriced.ts'

export type Credential = 'own' | 'platform' | null

export interface ModelRow {
  readonly type: 'provider' | 'owned' | 'gate'
  /** The name that gates list as a target, or the id of a gate. */
  readonly target: string
  /** The id of the provider, `owned` or `gates`. */
  readonly provider: string
  readonly providerName: string
  readonly name: string | null
  /** Null: no calls are possible without a key. Gates have no credential of their own. */
  readonly credential: Credential
  readonly isReachable: boolean
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  readonly inputModalities: readonly string[] | null
  readonly outputModalities: readonly string[] | null
  /** Empty: the model has no such setting. */
  readonly reasoningEfforts: readonly string[] | null
  /** US dollars per million tokens. Null: not known. */
  readonly inputUsd: number | null
  readonly cachedInputUsd: number | null
  readonly outputUsd: number | null
  readonly priceSource: string | null
  readonly isPriceEstimated: boolean
  readonly isAlias: boolean
  readonly retiresOn: string | null
  /** The gate whose calls go to this model, for the playground. */
  readonly gateId: string | undefined
}

type ListedModel = RowOf<'GET /v1/provider-models'> &
  Partial<{
    /** An earlier version of the gateway does not send these members. */
    readonly maxOutputTokens: number | null
    readonly inputModalities: readonly string[] | null
    readonly outputModalities: readonly string[] | null
    readonly reasoningEfforts: readonly string[] | null
    readonly cachedInputUsdPerMillion: number | null
    readonly priceSource: string | null
    readonly isPriceEstimated: boolean
    readonly isAlias: boolean
    readonly retiresOn: string | null
  }>

export interface ModelSources {
  readonly providers: readonly RowOf<'GET /v1/providers'>[]
  readonly models: readonly ListedModel[]
  readonly ownedModels: readonly RowOf<'GET /v1/owned-models'>[]
  readonly gates: readonly RowOf<'GET /v1/gates'>[]
}

const UNKNOWN_FACTS = {
  contextTokens: null,
  maxOutputTokens: null,
  inputModalities: null,
  outputModalities: null,
  reasoningEfforts: null,
}

/** Gates first, then owned models, then the models of each provider, current models first. */
export function toModelRows({ providers, models, ownedModels, gates }: ModelSources): ModelRow[] {
  const byId = new Map(providers.map((provider) => [provider.id, provider]))
  const gateOf = firstGates(gates)
  const perProvider = [...Map.groupBy(models, ({ provider }) => provider).values()]
  return [
    ...gates.map(toGateRow),
    ...ownedModels.map((model) => toOwnedRow(model, gateOf)),
    ...perProvider.flatMap(newestFirst).map((model): ModelRow => {
      const target = `${model.provider}/${model.id}`
      const provider = byId.get(model.provider)
      const credential = provider?.credential ?? null
      return {
        type: 'provider',
        target,
        provider: model.provider,
        providerName: provider?.name ?? model.provider,
        name: model.name,
        credential,
        isReachable: credential !== null,
        contextTokens: model.contextTokens,
        maxOutputTokens: model.maxOutputTokens ?? null,
        inputModalities: model.inputModalities ?? null,
        outputModalities: model.outputModalities ?? null,
        reasoningEfforts: model.reasoningEfforts ?? null,
        inputUsd: model.inputUsdPerMillion,
        cachedInputUsd: model.cachedInputUsdPerMillion ?? null,
        outputUsd: model.outputUsdPerMillion,
        priceSource: model.priceSource ?? null,
        isPriceEstimated: model.isPriceEstimated ?? false,
        isAlias: model.isAlias ?? false,
        retiresOn: model.retiresOn ?? null,
        gateId: gateOf.get(target),
      }
    }),
  ]
}

function toGateRow(gate: RowOf<'GET /v1/gates'>): ModelRow {
  const facts = gate.resolvedFacts
  return {
    type: 'gate',
    target: gate.id,
    provider: 'gates',
    providerName: 'Gates',
    name: gate.displayName === gate.id ? null : gate.displayName,
    credential: null,
    isReachable: true,
    contextTokens: facts.contextTokens?.value ?? null,
    maxOutputTokens: facts.maxOutputTokens?.value ?? null,
    inputModalities: facts.inputModalities?.value ?? null,
    outputModalities: facts.outputModalities?.value ?? null,
    reasoningEfforts: facts.reasoningEfforts?.value ?? null,
    inputUsd: null,
    cachedInputUsd: null,
    outputUsd: null,
    priceSource: null,
    isPriceEstimated: false,
    isAlias: false,
    retiresOn: null,
    gateId: gate.id,
  }
}

function toOwnedRow(
  model: RowOf<'GET /v1/owned-models'>,
  gateOf: ReadonlyMap<string, string>,
): ModelRow {
  const target = `owned/${model.slug}`
  return {
    ...UNKNOWN_FACTS,
    type: 'owned',
    target,
    provider: 'owned',
    providerName: 'Owned models',
    name: model.displayName === model.slug ? null : model.displayName,
    credential: 'own',
    isReachable: true,
    inputUsd: model.pricingInput / 100,
    cachedInputUsd: model.pricingCachedInput / 100,
    outputUsd: model.pricingOutput / 100,
    priceSource: null,
    isPriceEstimated: false,
    isAlias: false,
    retiresOn: null,
    gateId: gateOf.get(target),
  }
}

/** The gate that asks a model first, preferably one without other targets. */
function firstGates(gates: ModelSources['gates']): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const isSingle = ({ targets }: RowOf<'GET /v1/gates'>) => targets.length === 1
  const ordered = gates.filter((gate) => isSingle(gate) || gate.strategy === 'fallback')
  for (const gate of ordered.toSorted((a, b) => a.targets.length - b.targets.length)) {
    const first = gate.targets[0]?.model
    if (first !== undefined && !found.has(first)) found.set(first, gate.id)
  }
  return found
}

export const SORTS = {
  provider: 'Provider, current first',
  name: 'Name',
  input: 'Input price, lowest first',
  output: 'Output price, lowest first',
  context: 'Context, longest first',
  calls: 'Calls, most first',
} as const
export type SortName = keyof typeof SORTS

export interface ModelFilter {
  readonly search: string
  readonly provider: string
  readonly sort: SortName
  /** Also models of providers without a key. */
  readonly isWithoutKey: boolean
}

export function findModels(
  rows: readonly ModelRow[],
  { search, provider, sort, isWithoutKey }: ModelFilter,
  callsOf: (row: ModelRow) => number | undefined,
): readonly ModelRow[] {
  const inScope = rows.filter(
    (row) => (isWithoutKey || row.isReachable) && (provider === '' || row.provider === provider),
  )
  const found = findByWords(inScope, search, textOf)
  if (sort === 'provider') return found
  if (sort === 'name') return found.toSorted((a, b) => (a.target < b.target ? -1 : 1))
  const figureOf = FIGURES[sort](callsOf)
  return found.toSorted((a, b) => figureOf(a) - figureOf(b))
}

const LAST = Number.MAX_VALUE

/** Lower figures come first, unknown figures last. */
const FIGURES: Readonly<
  Record<
    Exclude<SortName, 'provider' | 'name'>,
    (callsOf: (row: ModelRow) => number | undefined) => (row: ModelRow) => number
  >
> = {
  input: () => (row) => row.inputUsd ?? LAST,
  output: () => (row) => row.outputUsd ?? LAST,
  context: () => (row) => (row.contextTokens === null ? LAST : -row.contextTokens),
  calls: (callsOf) => (row) => -(callsOf(row) ?? 0),
}

function textOf(row: ModelRow): string {
  const modalities = [...(row.inputModalities ?? []), ...(row.outputModalities ?? [])]
  return `${row.target} ${row.name ?? ''} ${row.providerName} ${modalities.join(' ')}`
}

type Sum = AnswerOf<'GET /v1/analytics'>['data'][number]

export interface ModelCalls {
  /** Undefined: not known. */
  readonly callsOf: (row: ModelRow) => number | undefined
  /** The targets whose calls ran without a known price, most calls first. */
  readonly unpriced: readonly UnpricedTarget[]
}

/** Counts the calls of each model. Models behind the last listed group have an unknown count. */
export function countCalls({
  targets,
  gates,
}: {
  readonly targets: readonly Sum[] | undefined
  readonly gates: readonly Sum[] | undefined
}): ModelCalls {
  const counts = { target: byGroup(targets), gate: byGroup(gates) }
  return {
    callsOf: ({ type, target }) => counts[type === 'gate' ? 'gate' : 'target'](target),
    unpriced: listUnpriced(targets),
  }
}

function byGroup(sums: readonly Sum[] | undefined): (group: string) => number | undefined {
  if (sums === undefined) return () => undefined
  const counts = new Map(sums.map(({ group, calls, isRest }) => [isRest ? null : group, calls]))
  const whenAbsent = sums.some(({ isRest }) => isRest) ? undefined : 0
  return (group) => counts.get(group) ?? whenAbsent
}

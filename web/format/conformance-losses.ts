import {
  FEATURE_IDS,
  FEATURES,
  type FeatureId,
  type Verdict,
} from '../../src/contract/conformance-features.ts'

interface Result {
  readonly verdict: Verdict
  readonly fields?: readonly string[] | undefined
  readonly message?: string | undefined
}

/** The part of the table's entries that losses are read from. */
export interface ConformanceResults {
  readonly results: Readonly<Record<string, Result>>
}

interface Entry extends ConformanceResults {
  readonly endpoint: string
  readonly targets: readonly { readonly provider: string; readonly models: readonly string[] }[]
}

export interface FeatureResult {
  readonly id: FeatureId
  readonly label: string
  readonly group: string
  readonly result: Result
}

export function resultsOf(entry: ConformanceResults): readonly FeatureResult[] {
  return FEATURE_IDS.flatMap((id) => {
    const result = entry.results[id]
    return result === undefined ? [] : [{ id, ...FEATURES[id], result }]
  })
}

export function describeLosses(entry: ConformanceResults): readonly string[] {
  return resultsOf(entry)
    .filter(({ result }) => !isWhole(result.verdict))
    .map(({ label, result }) => `${label}: ${detailOf(result) ?? result.verdict}`)
}

/** Whether the feature arrives unchanged in meaning. */
export function isWhole(verdict: Verdict): boolean {
  return verdict === 'lossless' || verdict === 'relayed'
}

export function detailOf(result: Result): string | undefined {
  if (result.fields !== undefined && result.fields.length > 0) return result.fields.join(', ')
  return result.message
}

export interface Loss {
  readonly id: FeatureId
  readonly label: string
  readonly detail: string
  /**
   * Whether only some kinds of the provider's models lose the feature, and the table lacks the
   * target's kind.
   */
  readonly isOfSomeModels: boolean
}

export interface EndpointLosses {
  readonly endpoint: string
  readonly losses: readonly Loss[] | undefined
}

export function findLosses(table: readonly Entry[], target: string): readonly EndpointLosses[] {
  const slash = target.indexOf('/')
  const [provider, model] = [target.slice(0, slash), target.slice(slash + 1)]
  const isKnown = table.some(({ targets }) => targets.some((each) => each.provider === provider))
  if (!isKnown) return []
  return [...new Set(table.map(({ endpoint }) => endpoint))].map((endpoint) => {
    const entries = table.filter(
      (entry) =>
        entry.endpoint === endpoint && entry.targets.some((each) => each.provider === provider),
    )
    const ownKind = entries.filter((entry) =>
      entry.targets.some(
        ({ provider: id, models }) =>
          id === provider && (models.length === 0 || models.includes(model)),
      ),
    )
    const kinds = ownKind.length > 0 ? ownKind : entries
    return { endpoint, losses: kinds.length === 0 ? undefined : joinLosses(kinds) }
  })
}

function joinLosses(kinds: readonly Entry[]): readonly Loss[] {
  return FEATURE_IDS.flatMap((id) => {
    const lost = kinds.flatMap(({ results: { [id]: result } }) =>
      result === undefined || isWhole(result.verdict) ? [] : [result],
    )
    const [first] = lost
    if (first === undefined) return []
    const detail = detailOf(first) ?? first.verdict
    return [{ id, label: FEATURES[id].label, detail, isOfSomeModels: lost.length < kinds.length }]
  })
}

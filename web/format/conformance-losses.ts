/**
 * What a caller's format loses on the way to a target, from the conformance table. Pure; knows no
 * provider and no page.
 */
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

/** In the order of the table; features that the endpoint's format lacks are omitted. */
export function resultsOf(entry: ConformanceResults): readonly FeatureResult[] {
  return FEATURE_IDS.flatMap((id) => {
    const result = entry.results[id]
    return result === undefined ? [] : [{ id, ...FEATURES[id], result }]
  })
}

/** Members that are lost, refused or missing, one line each: `seed: seed`. */
export function describeLosses(entry: ConformanceResults): readonly string[] {
  return resultsOf(entry)
    .filter(({ result }) => !isWhole(result.verdict))
    .map(({ label, result }) => `${label}: ${detailOf(result) ?? result.verdict}`)
}

/** True when it arrives unchanged in meaning. */
export function isWhole(verdict: Verdict): boolean {
  return verdict === 'lossless' || verdict === 'relayed'
}

/** The lost fields, or the refusal's words. */
export function detailOf(result: Result): string | undefined {
  if (result.fields !== undefined && result.fields.length > 0) return result.fields.join(', ')
  return result.message
}

export interface Loss {
  readonly id: FeatureId
  readonly label: string
  /** The fields, or the refusal's words. */
  readonly detail: string
  /**
   * The target's kind of model is not in the table, and only some kinds of the provider's models
   * lose it.
   */
  readonly isOfSomeModels: boolean
}

export interface EndpointLosses {
  readonly endpoint: string
  /** Undefined: the target is not reachable from the endpoint, as far as the table says. */
  readonly losses: readonly Loss[] | undefined
}

/**
 * @param target `provider/model`
 * @returns one entry per endpoint of the table; empty when the provider is not in it, as for owned
 * models
 */
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

/** Rows that say the same, as one: what the gateway serves at `/v1/conformance`. */
import type { ConformanceRow } from './conformance-table.ts'
import { ANY_MODEL } from './models.ts'

/** Must be what `src/contract/conformance.ts` describes. */
export type ConformanceGroup = Pick<ConformanceRow, 'endpoint' | 'dialect' | 'results'> & {
  readonly targets: readonly { readonly provider: string; readonly models: readonly string[] }[]
}

export function groupRows(rows: readonly ConformanceRow[]): ConformanceGroup[] {
  const groups = Map.groupBy(rows, ({ endpoint, dialect, results }) =>
    JSON.stringify([endpoint, dialect, results]),
  )
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const { endpoint, dialect, results } = first
    return [{ endpoint, dialect, targets: toTargets(alike, rows), results }]
  })
}

/** A provider whose models are all alike is named without them. */
function toTargets(alike: readonly ConformanceRow[], rows: readonly ConformanceRow[]) {
  return [...Map.groupBy(alike, (row) => row.provider)].map(([provider, ofProvider]) => {
    const all = rows.filter(
      (row) => row.provider === provider && row.endpoint === ofProvider[0]?.endpoint,
    )
    const models = ofProvider.map((row) => row.model)
    return {
      provider,
      models: models.length === all.length || models[0] === ANY_MODEL ? [] : models,
    }
  })
}

/** One line a group, so that a change is seen where it is. */
export function toJsonText(groups: readonly ConformanceGroup[]): string {
  return `[\n${groups.map((group) => `  ${JSON.stringify(group)}`).join(',\n')}\n]\n`
}

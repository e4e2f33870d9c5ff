import type { ConformanceRow } from './conformance-table.ts'
import { ANY_MODEL } from './models.ts'

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

/** Names a provider without its models when all models behave alike. */
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

export function toJsonText(groups: readonly ConformanceGroup[]): string {
  return `[\n${groups.map((group) => `  ${JSON.stringify(group)}`).join(',\n')}\n]\n`
}

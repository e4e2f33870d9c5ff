import { VERDICTS, type Verdict } from '../../../src/contract/conformance-features.ts'
import type { RowOf } from '../../api/ask.ts'
import { resultsOf } from '../../format/conformance-losses.ts'

export type ConformanceEntry = RowOf<'GET /v1/conformance'>

const [RELAYED, LOSSLESS, LOSSY, REFUSED, ABSENT] = VERDICTS
export const WORST_FIRST = [REFUSED, ABSENT, LOSSY, LOSSLESS, RELAYED]

export interface MatrixRow {
  readonly provider: string
  readonly model: string | undefined
  /** By endpoint; unreachable endpoints are absent. */
  readonly cells: ReadonlyMap<string, ConformanceEntry>
}

export interface Matrix {
  readonly endpoints: readonly string[]
  readonly rows: readonly MatrixRow[]
}

export function toMatrix(entries: readonly ConformanceEntry[]): Matrix {
  const endpoints = [...new Set(entries.map(({ endpoint }) => endpoint))]
  const kinds = new Map<string, Set<string>>()
  for (const { targets } of entries) {
    for (const { provider, models } of targets) {
      const known = kinds.get(provider) ?? new Set<string>()
      for (const model of models) known.add(model)
      kinds.set(provider, known)
    }
  }
  const rows = [...kinds].flatMap(([provider, models]) => {
    const each = models.size === 0 ? [undefined] : [...models].sort()
    return each.map((model) => ({
      provider,
      model,
      cells: new Map(
        endpoints.flatMap((endpoint) => {
          const entry = findEntry(entries, { endpoint, provider, model })
          return entry === undefined ? [] : [[endpoint, entry] as const]
        }),
      ),
    }))
  })
  return { endpoints, rows: rows.sort((one, other) => one.provider.localeCompare(other.provider)) }
}

function findEntry(
  entries: readonly ConformanceEntry[],
  {
    endpoint,
    provider,
    model,
  }: { readonly endpoint: string; readonly provider: string; readonly model: string | undefined },
): ConformanceEntry | undefined {
  return entries.find(
    (entry) =>
      entry.endpoint === endpoint &&
      entry.targets.some(
        (target) =>
          target.provider === provider &&
          (target.models.length === 0 || (model !== undefined && target.models.includes(model))),
      ),
  )
}

export function countVerdicts(
  entry: ConformanceEntry,
): readonly { readonly verdict: Verdict; readonly count: number }[] {
  const results = resultsOf(entry)
  return WORST_FIRST.map((verdict) => ({
    verdict,
    count: results.filter(({ result }) => result.verdict === verdict).length,
  })).filter(({ count }) => count > 0)
}

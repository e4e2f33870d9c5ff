/** The generated texts that contain the conformance table, by their paths. */
import { catalog } from '../../src/providers/catalog.ts'
import { conformancePage } from './conformance-page.ts'
import { runConformance, UPSTREAMS } from './conformance-table.ts'
import { groupRows, toJsonText } from './group-rows.ts'

export interface ConformanceTexts {
  readonly files: ReadonlyMap<string, string>
  /** What the gateway loses in silence, in words: to be mended before anything is written. */
  readonly faults: readonly string[]
}

/** @param found results of probes that have run already */
export function conformanceTexts({ rows, faults } = runConformance()): ConformanceTexts {
  const names = {
    providers: new Map(catalog.map((provider) => [provider.id, provider.name])),
    dialects: new Map(Object.entries(UPSTREAMS).map(([id, upstream]) => [id, upstream.name])),
  }
  const files = new Map([
    ['docs/generated/conformance.md', conformancePage(rows, names)],
    ['src/admin/openapi/conformance.generated.json', toJsonText(groupRows(rows))],
  ])
  return { files, faults }
}

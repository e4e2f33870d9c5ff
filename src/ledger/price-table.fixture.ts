/** A price table of a test's own. */
import type { PriceTable } from './price-table.ts'

/** Empty but for `parts`. */
export function tableOf(parts: Partial<PriceTable>): PriceTable {
  return {
    source: 'test@1',
    find: () => undefined,
    contextTokensOf: () => undefined,
    models: () => [],
    ...parts,
  }
}

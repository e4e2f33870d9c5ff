import { dialectOf } from '../../src/contract/dialects.ts'

interface Known {
  readonly providers: readonly { readonly id: string; readonly dialects: readonly string[] }[]
  readonly table: readonly {
    readonly endpoint: string
    readonly targets: readonly { readonly provider: string }[]
  }[]
}

/** `unknown`: the table says nothing, as for owned models. */
export type Fit = 'native' | 'translated' | 'unknown' | 'none'

const BEST_FIRST: readonly Fit[] = ['native', 'translated', 'unknown', 'none']

const FIM = '/alt/v1/fim/completions'
/**
 * The fit of the best target, because unsuitable targets are skipped.
 * @param targets `provider/model`
 */
export function findFit(known: Known, endpoint: string, targets: readonly string[]): Fit {
  const fits = targets.map((target) => fitOfTarget(known, endpoint, target))
  return BEST_FIRST.find((fit) => fits.includes(fit)) ?? 'unknown'
}

function fitOfTarget({ providers, table }: Known, endpoint: string, target: string): Fit {
  const id = target.slice(0, target.indexOf('/'))
  const provider = providers.find((each) => each.id === id)
  if (provider === undefined) return 'unknown'
  if (provider.dialects.includes(dialectOf(endpoint) ?? endpoint)) return 'native'
  const isReached = table.some(
    (row) => row.endpoint === endpoint && row.targets.some((each) => each.provider === id),
  )
  if (isReached) return 'translated'
  return endpoint === FIM ? 'none' : 'unknown'
}

/** Sorts by fit, best first; items with the same fit stay in order. */
export function arrangeByFit<Item extends { readonly endpoint: string }>(
  items: readonly Item[],
  fitOf: (endpoint: string) => Fit,
): readonly (Item & { readonly fit: Fit })[] {
  return items
    .map((item) => ({ ...item, fit: fitOf(item.endpoint) }))
    .sort((one, other) => BEST_FIRST.indexOf(one.fit) - BEST_FIRST.indexOf(other.fit))
}

/** How well a gate's targets take what a caller's format says, by the conformance table. Pure; knows no provider. */

interface TableRow {
  readonly endpoint: string
  /** Null: the endpoint does not reach these targets. */
  readonly dialect: string | null
  readonly targets: readonly { readonly provider: string; readonly models: readonly string[] }[]
  readonly results: Readonly<Record<string, { readonly verdict: string }>>
}

/** `unknown`: the table has nothing of such targets, as of owned models. */
export type Fit = 'native' | 'translated' | 'unknown' | 'none'

const BEST_FIRST: readonly Fit[] = ['native', 'translated', 'unknown', 'none']

/** Of the target that fits best: one that does not is passed over. @param targets `provider/model` */
export function findFit(table: readonly TableRow[], endpoint: string, targets: readonly string[]): Fit {
  const fits = targets.map((target) => fitOfTarget(table, endpoint, target))
  return BEST_FIRST.find((fit) => fits.includes(fit)) ?? 'unknown'
}

function fitOfTarget(table: readonly TableRow[], endpoint: string, target: string): Fit {
  const provider = target.slice(0, target.indexOf('/'))
  const model = target.slice(provider.length + 1)
  const rows = table.filter(
    (row) => row.endpoint === endpoint && row.targets.some((each) => each.provider === provider),
  )
  // A provider's models may be of several kinds, and the table names one of each.
  const exact = rows.find(({ targets }) =>
    targets.some((each) => each.provider === provider && each.models.includes(model)),
  )
  const fits = (exact === undefined ? rows : [exact]).map(fitOfRow)
  return BEST_FIRST.find((fit) => fits.includes(fit)) ?? 'unknown'
}

function fitOfRow({ dialect, results }: TableRow): Fit {
  if (dialect === null) return 'none'
  return Object.values(results).some(({ verdict }) => verdict === 'relayed') ? 'native' : 'translated'
}

/** What fits best comes first; the rest stays in its order. */
export function arrangeByFit<Item extends { readonly endpoint: string }>(
  items: readonly Item[],
  fitOf: (endpoint: string) => Fit,
): readonly (Item & { readonly fit: Fit })[] {
  return items
    .map((item) => ({ ...item, fit: fitOf(item.endpoint) }))
    .sort((one, other) => BEST_FIRST.indexOf(one.fit) - BEST_FIRST.indexOf(other.fit))
}

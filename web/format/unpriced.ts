export interface UnpricedTarget {
  readonly target: string
  readonly calls: number
}

/** The targets whose calls ran without a known price, most calls first. */
export function listUnpriced(
  targets:
    | readonly {
        readonly group: string | null
        readonly isRest: boolean
        readonly cost: { readonly unpricedCalls: number }
      }[]
    | undefined,
): readonly UnpricedTarget[] {
  return (targets ?? [])
    .flatMap(({ group, isRest, cost }) =>
      group === null || isRest || cost.unpricedCalls === 0
        ? []
        : [{ target: group, calls: cost.unpricedCalls }],
    )
    .toSorted((left, right) => right.calls - left.calls)
}

/**
 * Adds rows of usage up for several stretches of time at once, each of one key or one gate. Must
 * not know where the rows come from.
 */
import { spanOf } from '../../core/period.ts'
import type { ScopedRange, UsedAmounts } from './sum-call-rows.ts'
import type { UsageRow } from './usage-pages.ts'

export type Amounts = { -readonly [Name in keyof UsedAmounts]: UsedAmounts[Name] }

export function addRow(sum: Amounts, row: UsageRow): void {
  sum.tokens += row.tokens
  sum.nanoUsd += row.cost_nano_usd
  sum.unpricedCalls += row.unpriced
}

export function addTo(sum: Amounts | undefined, more: UsedAmounts): void {
  if (sum === undefined) return
  sum.tokens += more.tokens
  sum.nanoUsd += more.nanoUsd
  sum.unpricedCalls += more.unpricedCalls
}

/**
 * The sums of several stretches of time at once. A stretch that needs pages begins and ends with
 * days.
 */
export class RangeSums {
  readonly amounts: readonly Amounts[]
  readonly #boundaries: readonly number[]
  readonly #byScope = new Map<string, { readonly range: ScopedRange; readonly sum: Amounts }[]>()

  constructor(ranges: readonly ScopedRange[]) {
    this.amounts = ranges.map((range) => {
      const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
      const scope = range.keyId === undefined ? `gate ${range.gateId}` : `key ${range.keyId}`
      const ofScope = this.#byScope.get(scope)
      if (ofScope === undefined) this.#byScope.set(scope, [{ range, sum }])
      else ofScope.push({ range, sum })
      return sum
    })
    const boundaries = new Set(ranges.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]))
    this.#boundaries = [...boundaries].sort((one, other) => one - other)
  }

  /**
   * Within each of them no range begins or ends, so that a month's sum belongs to a range as a
   * whole, or not at all; or it is shorter than a month, and is read by days, in which none does.
   * Each takes several questions, so there are two at most for each month in which ranges begin.
   */
  stretches(): readonly { readonly fromMs: number; readonly untilMs: number }[] {
    const ofMonths = Map.groupBy(this.#boundaries, (ms) =>
      Number.isFinite(ms) ? spanOf('month', ms).startsAtMs : ms,
    )
    const boundaries = [...ofMonths.values()].flatMap((ofMonth) => [
      ...new Set([ofMonth.at(0) ?? 0, ofMonth.at(-1) ?? 0]),
    ])
    return boundaries
      .slice(1)
      .map((untilMs, index) => ({ fromMs: boundaries[index] ?? untilMs, untilMs }))
  }

  add(row: UsageRow): void {
    this.#addTo(this.#byScope.get(`key ${row.key_id}`), row)
    this.#addTo(this.#byScope.get(`gate ${row.gate_id}`), row)
  }

  #addTo(
    ofScope: readonly { readonly range: ScopedRange; readonly sum: Amounts }[] | undefined,
    row: UsageRow,
  ) {
    if (ofScope === undefined) return
    for (const { range, sum } of ofScope)
      if (row.starts_at >= range.fromMs && row.starts_at < range.untilMs) addRow(sum, row)
  }
}

import type { ScopedRange, UsedAmounts } from './sum-call-rows.ts'
import type { UsageRow } from './usage-columns.ts'

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

export class RangeSums {
  readonly amounts: readonly Amounts[]
  readonly #ranges: readonly ScopedRange[]
  readonly #byScope = new Map<string, { readonly range: ScopedRange; readonly sum: Amounts }[]>()

  constructor(ranges: readonly ScopedRange[]) {
    this.amounts = ranges.map((range) => {
      const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
      const scope = scopeOf(range)
      const ofScope = this.#byScope.get(scope)
      if (ofScope === undefined) this.#byScope.set(scope, [{ range, sum }])
      else ofScope.push({ range, sum })
      return sum
    })
    this.#ranges = ranges
  }

  stretches(): readonly { readonly fromMs: number; readonly untilMs: number }[] {
    const stretches: { readonly fromMs: number; untilMs: number }[] = []
    for (const { fromMs, untilMs } of this.#ranges.toSorted(
      (one, other) => one.fromMs - other.fromMs,
    )) {
      const last = stretches.at(-1)
      if (fromMs >= untilMs) continue
      if (last !== undefined && fromMs <= last.untilMs)
        last.untilMs = Math.max(last.untilMs, untilMs)
      else stretches.push({ fromMs, untilMs })
    }
    return stretches
  }

  add(row: UsageRow): void {
    this.#addTo(this.#byScope.get(ACCOUNT), row)
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

const ACCOUNT = 'account'

function scopeOf({ keyId, gateId }: ScopedRange): string {
  if (keyId !== undefined) return `key ${keyId}`
  return gateId === undefined ? ACCOUNT : `gate ${gateId}`
}

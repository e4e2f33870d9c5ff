import type { GateId, KeyId } from '../../core/ids.ts'
import type { ScopedRange, UsedAmounts } from './sum-call-rows.ts'
import type { AmountColumns, UsageRow } from './usage-columns.ts'

export type Amounts = { -readonly [Name in keyof UsedAmounts]: UsedAmounts[Name] }

export function addRow(sum: Amounts, row: AmountColumns): void {
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

  /** What the ranges select: the account, keys and gates. */
  scopes(): {
    readonly hasAccount: boolean
    readonly keyIds: readonly KeyId[]
    readonly gateIds: readonly GateId[]
  } {
    const scopes = this.#ranges.filter(({ fromMs, untilMs }) => fromMs < untilMs)
    return {
      hasAccount: scopes.some((scope) => scopeOf(scope) === ACCOUNT),
      keyIds: [...new Set(scopes.flatMap(({ keyId }) => keyId ?? []))],
      gateIds: [...new Set(scopes.flatMap(({ gateId }) => gateId ?? []))],
    }
  }

  /** Adds a row to the ranges of the account, its key and its gate. */
  add(row: UsageRow): void {
    this.addOf({}, row)
    this.addOf({ keyId: row.key_id }, row)
    this.addOf({ gateId: row.gate_id }, row)
  }

  /** Adds a row to the ranges of one key, one gate or, without either, the account. */
  addOf(scope: Pick<ScopedRange, 'keyId' | 'gateId'>, row: RowInTime): void {
    for (const { range, sum } of this.#byScope.get(scopeOf(scope)) ?? [])
      if (row.starts_at >= range.fromMs && row.starts_at < range.untilMs) addRow(sum, row)
  }
}

type RowInTime = Pick<UsageRow, 'starts_at' | keyof AmountColumns>

const ACCOUNT = 'account'

function scopeOf({ keyId, gateId }: Pick<ScopedRange, 'keyId' | 'gateId'>): string {
  if (keyId !== undefined) return `key ${keyId}`
  return gateId === undefined ? ACCOUNT : `gate ${gateId}`
}

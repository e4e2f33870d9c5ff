/**
 * Sums the usage of a journal's calls by the hour in which they began. Must not know files, nor the
 * store.
 */
import type { CallRecord } from '../core/call.ts'
import type { AccountId } from '../core/ids.ts'
import { hourOf } from '../core/period.ts'
import type { Prices } from '../gateway/ports.ts'
import type { UsageSum } from '../store/usage/usage-sums.ts'

/** Hours, split at requested times. */
export class UnshippedSums {
  /** Cut times by their hour, latest first. */
  readonly #cutsMs = new Map<number, number[]>()
  readonly #prices: Prices | undefined
  /** By account, then by dimensions and time. */
  readonly #sums = new Map<AccountId, Map<string, { readonly fromMs: number; sum: UsageSum }>>()

  constructor(cutsMs: readonly number[], prices: Prices | undefined) {
    for (const cutMs of [...cutsMs].sort((one, other) => other - one)) {
      const { startsAtMs } = hourOf(cutMs)
      const ofHour = this.#cutsMs.get(startsAtMs)
      if (ofHour === undefined) this.#cutsMs.set(startsAtMs, [cutMs])
      else ofHour.push(cutMs)
    }
    this.#prices = prices
  }

  add(record: CallRecord): void {
    this.#addTo(this.#stretchOf(record.startedAt), toSum(record, this.#prices))
  }

  since(
    fromMs: number,
    accountId: AccountId | undefined,
    untilMs = Number.POSITIVE_INFINITY,
  ): readonly UsageSum[] {
    const accounts = accountId === undefined ? [...this.#sums.keys()] : [accountId]
    return accounts
      .flatMap((id) => [...(this.#sums.get(id)?.values() ?? [])])
      .filter((of) => of.fromMs >= fromMs && of.fromMs < untilMs)
      .map(({ sum }) => sum)
  }

  /** The beginning of the range that contains this time. */
  #stretchOf(timeMs: number): number {
    const { startsAtMs } = hourOf(timeMs)
    return this.#cutsMs.get(startsAtMs)?.find((cutMs) => cutMs <= timeMs) ?? startsAtMs
  }

  #addTo(fromMs: number, sum: UsageSum): void {
    const { accountId } = sum
    const ofAccount =
      this.#sums.get(accountId) ?? new Map<string, { fromMs: number; sum: UsageSum }>()
    this.#sums.set(accountId, ofAccount)
    const key = placeOf(fromMs, sum)
    const known = ofAccount.get(key)
    if (known === undefined) ofAccount.set(key, { fromMs, sum })
    else known.sum = join(known.sum, sum)
  }
}

function placeOf(fromMs: number, { keyId, gateId, target, credential }: UsageSum): string {
  return JSON.stringify([fromMs, keyId, gateId, target, credential])
}

function join(sum: UsageSum, other: UsageSum): UsageSum {
  return {
    ...sum,
    tokens: sum.tokens + other.tokens,
    nanoUsd: sum.nanoUsd + other.nanoUsd,
    unpricedCalls: sum.unpricedCalls + other.unpricedCalls,
  }
}

function toSum(record: CallRecord, prices: Prices | undefined): UsageSum {
  const { accountId, keyId, gateId, target, credential, usage } = record
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens
  const nanoUsd = (record.cost ?? prices?.priceOf(record))?.nanoUsd ?? null
  const unpricedCalls = nanoUsd === null && usage !== null ? 1 : 0
  return {
    accountId,
    keyId,
    gateId,
    target,
    credential,
    tokens,
    nanoUsd: nanoUsd ?? 0,
    unpricedCalls,
  }
}

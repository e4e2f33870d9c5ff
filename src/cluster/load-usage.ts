/**
 * Brings the counters up to what the ledger holds, while the process serves already. Must not know tables or files.
 *
 * Nothing may be added to the ledger's sums meanwhile: what this process records is counted as it ends, and would be
 * counted twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallCredential } from '../core/call.ts'
import type { AccountId, GateId, KeyId } from '../core/ids.ts'
import { spanOf } from '../core/period.ts'
import { countsForQuota } from '../gateway/counts-for-quota.ts'
import type { BudgetRegistry } from './budget-registry.ts'
import type { PastUsage, UsageLimits } from './usage-limits.ts'

/** The ledger's sums: of all calls that began at `fromMs` or later. */
export interface LedgerSums {
  since(fromMs: number): Promise<
    readonly {
      readonly accountId: AccountId
      readonly keyId: KeyId
      readonly gateId: GateId
      readonly target: string | null
      readonly credential: CallCredential | null
      readonly tokens: number
      readonly microUsd: number
      readonly unpricedCalls: number
    }[]
  >
}

/**
 * All or nothing, so that it can be tried again. Alerts that are due, because the process ended before it could tell, are
 * told now.
 */
export async function loadUsage(
  usage: UsageLimits,
  budgets: Pick<BudgetRegistry, 'all'>,
  ledger: { readonly sums: LedgerSums; readonly nowMs: number },
): Promise<void> {
  const { sums, nowMs } = ledger
  const since = async (fromMs: number): Promise<PastUsage[]> =>
    (await sums.since(fromMs)).map((sum) => ({
      ...sum,
      countsForQuota: countsForQuota(sum.target, sum.credential),
    }))
  const windows = budgets.all().flatMap(({ id }) => {
    const window = usage.budgetWindow(id, nowMs)
    return window === undefined ? [] : [{ id, fromMs: window.startsAtMs }]
  })
  const ofMonth = await since(spanOf('month', nowMs).startsAtMs)
  const ofBudgets: { readonly id: string; readonly past: readonly PastUsage[] }[] = []
  for (const { id, fromMs } of windows) ofBudgets.push({ id, past: await since(fromMs) })
  usage.addPastQuotaUsage(nowMs, ofMonth)
  for (const { id, past } of ofBudgets) {
    usage.addPastBudgetUsage(id, nowMs, past)
    usage.alertBudget(id, nowMs)
  }
}

const RETRY_MS = 5_000

export interface LoadingOptions {
  readonly usage: UsageLimits
  /** All or nothing. */
  readonly load: () => Promise<void>
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
  readonly retryMs?: number
}

/**
 * Loads until it has worked; meanwhile `usage` holds back the calls that past usage could stop. The first attempt has begun
 * when this returns.
 * @returns false when it was aborted first; it never rejects
 */
export async function keepLoading(options: LoadingOptions): Promise<boolean> {
  const { usage, load, signal, onFailure, retryMs = RETRY_MS } = options
  while (!signal.aborted) {
    const attempt = load()
    usage.awaitPast(attempt)
    try {
      await attempt
      return true
    } catch (error) {
      if (!signal.aborted) onFailure(error)
    }
    await sleep(retryMs, undefined, { signal, ref: false }).catch(() => {})
  }
  return false
}

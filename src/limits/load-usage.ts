/**
 * Adds past usage from the ledger to the counters while the process already serves. Nothing may be
 * shipped to the ledger meanwhile, because shipped calls would count twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Budget, endOfBeginning, type LedgerScope, toLedgerScope } from '../core/budget.ts'
import type { CallCredential } from '../core/call.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import { spanOf } from '../core/period.ts'
import { withJitter } from '../core/retry-delay.ts'
import { countsForQuota } from '../gateway/check-quota.ts'
import type { BudgetRegistry } from './budget-registry.ts'
import type { HeadPeriod } from './head-readings.ts'
import { type PastUsage, sumOf } from './past-sums.ts'
import type { UsedSoFar } from './usage-counter.ts'
import type { UsageLimits } from './usage-limits.ts'

export interface LedgerSums {
  /**
   * Usage of calls from `fromMs` to before `untilMs`, both at the beginning of an hour. The end
   * excludes calls dated by a clock far ahead.
   * @param accountId undefined sums every account
   */
  since(
    fromMs: number,
    accountId: AccountId | undefined,
    untilMs: number,
  ): Promise<
    readonly (UsedSoFar & {
      readonly accountId: AccountId
      readonly target: string | null
      readonly credential: CallCredential | null
    })[]
  >
  /**
   * The usage of each time range, in order; all ranges of an account are queried together.
   * @param ranges a range has at most one dimension; its end may be infinite
   */
  ofRanges(
    accountId: AccountId,
    ranges: readonly (LedgerScope & { readonly fromMs: number; readonly untilMs: number })[],
  ): Promise<readonly UsedSoFar[]>
  /**
   * Budget id → the budget's usage on the day of its creation, from calls and hours that are
   * deleted.
   */
  budgetBeginnings(): Promise<ReadonlyMap<string, UsedSoFar>>
}

export interface LoadedLedger {
  readonly sums: LedgerSums
  readonly nowMs: number
  readonly beforeCounting?: () => Promise<void>
  readonly isAgain?: boolean
}

export async function loadUsage(
  usage: UsageLimits,
  budgets: Pick<BudgetRegistry, 'all'>,
  ledger: LoadedLedger,
): Promise<void> {
  await loadQuotas(usage, ledger)
  await loadBudgets(usage, budgets, ledger)
}

/** Adds all usage or no usage, so the caller may retry. */
export async function loadQuotas(
  usage: UsageLimits,
  { sums, nowMs, beforeCounting, isAgain }: LoadedLedger,
): Promise<void> {
  const month = spanOf('month', nowMs)
  const ofMonth = (await sums.since(month.startsAtMs, undefined, month.endsAtMs)).map(toPast)
  await beforeCounting?.()
  usage.addPastQuotaUsage(nowMs, ofMonth, isAgain)
}

/**
 * Adds all usage or no usage, so the caller may retry. Sends alerts that the previous process could
 * not send.
 */
export async function loadBudgets(
  usage: UsageLimits,
  budgets: Pick<BudgetRegistry, 'all'>,
  { sums, nowMs, beforeCounting, isAgain }: LoadedLedger,
): Promise<void> {
  const ofBudgets = await readBudgets(usage, budgets.all(), { sums, nowMs })
  await beforeCounting?.()
  for (const { id, past } of ofBudgets) {
    usage.addPastBudgetUsage(id, nowMs, past, isAgain)
    usage.alertBudget(id, nowMs)
  }
  usage.readHeadsLater(isAgain === true)
}

/** The past usage of heads in their windows, in order. */
export async function readHeads(
  sums: Pick<LedgerSums, 'ofRanges'>,
  heads: readonly HeadPeriod[],
): Promise<readonly UsedSoFar[]> {
  const used = new Map<HeadPeriod, UsedSoFar>()
  for (const [accountId, some] of Map.groupBy(heads, ({ counter }) => counter.budget.accountId)) {
    const ranges = some.map(({ counter: { budget, head }, window }) => ({
      ...(budget.scope.type === 'each-user' ? { userId: head } : { keyId: head as KeyId }),
      fromMs: window.startsAtMs,
      untilMs: window.endsAtMs,
    }))
    for (const [index, sum] of (await sums.ofRanges(accountId, ranges)).entries()) {
      const head = some[index]
      if (head !== undefined) used.set(head, sum)
    }
  }
  return heads.map((head) => used.get(head) ?? { tokens: 0, nanoUsd: 0, unpricedCalls: 0 })
}

/**
 * Raises counters to the ledger's sums, where those are higher. A lower sum counts from the next
 * period on.
 * @param raised.accountId undefined: the counters of all accounts
 */
export async function raiseUsage(
  usage: UsageLimits,
  raised: { readonly accountId: AccountId | undefined; readonly budgets: readonly Budget[] },
  { sums, nowMs }: { readonly sums: LedgerSums; readonly nowMs: number },
): Promise<void> {
  const { accountId } = raised
  const budgets =
    accountId === undefined
      ? raised.budgets
      : raised.budgets.filter((budget) => budget.accountId === accountId)
  const month = spanOf('month', nowMs)
  const ofMonth = (await sums.since(month.startsAtMs, accountId, month.endsAtMs)).map(toPast)
  const ofBudgets = await readBudgets(usage, budgets, { sums, nowMs })
  usage.addPastQuotaUsage(nowMs, ofMonth, true)
  for (const { id, past } of ofBudgets) {
    usage.addPastBudgetUsage(id, nowMs, past, true)
    usage.alertBudget(id, nowMs)
  }
  usage.readHeadsLater(true, accountId)
}

interface AccountBudgets {
  readonly accountId: AccountId
  readonly budgets: readonly Budget[]
}

export async function showUsage(
  usage: UsageLimits,
  shown: AccountBudgets,
  { sums, nowMs }: { readonly sums: LedgerSums; readonly nowMs: number },
): Promise<void> {
  const { accountId, budgets } = shown
  const month = spanOf('month', nowMs)
  const ofMonth = (await sums.since(month.startsAtMs, accountId, month.endsAtMs)).map(toPast)
  const ofBudgets = await readBudgets(usage, budgets, { sums, nowMs })
  usage.seePastQuotaUsage(accountId, nowMs, ofMonth)
  for (const { id, past } of ofBudgets) usage.seePastBudgetUsage(id, nowMs, past)
}

interface BudgetSums {
  readonly id: string
  readonly past: UsedSoFar
}

async function readBudgets(
  usage: UsageLimits,
  budgets: readonly Budget[],
  { sums, nowMs }: { readonly sums: LedgerSums; readonly nowMs: number },
): Promise<readonly BudgetSums[]> {
  if (budgets.length === 0) return []
  for (let beginnings = await sums.budgetBeginnings(); ; ) {
    const ofBudgets = await readSince(beginnings, { usage, budgets, sums, nowMs })
    const now = await sums.budgetBeginnings()
    // If a stored beginning changed during the read, the read hours may overlap or leave a gap, so
    // all hours are read again.
    if (budgets.every(({ id }) => isSame(beginnings.get(id), now.get(id)))) return ofBudgets
    beginnings = now
  }
}

function isSame(one: UsedSoFar | undefined, other: UsedSoFar | undefined): boolean {
  return (
    one?.tokens === other?.tokens &&
    one?.nanoUsd === other?.nanoUsd &&
    one?.unpricedCalls === other?.unpricedCalls
  )
}

async function readSince(
  beginnings: ReadonlyMap<string, UsedSoFar>,
  {
    usage,
    budgets,
    sums,
    nowMs,
  }: {
    readonly usage: UsageLimits
    readonly budgets: readonly Budget[]
    readonly sums: LedgerSums
    readonly nowMs: number
  },
): Promise<readonly BudgetSums[]> {
  const ofBudgets: BudgetSums[] = []
  for (const [accountId, ofAccount] of Map.groupBy(budgets, (budget) => budget.accountId)) {
    const ranges = ofAccount.flatMap((budget) => {
      const window = usage.budgetWindow(budget.id, nowMs)
      if (window === undefined) return []
      const { startsAtMs, endsAtMs: untilMs } = window
      const beginning = startsAtMs === budget.createdAt ? beginnings.get(budget.id) : undefined
      const scope = toLedgerScope(budget.scope)
      const fromMs = beginning === undefined ? startsAtMs : endOfBeginning(scope, startsAtMs)
      return [{ budget, beginning, range: { ...scope, fromMs, untilMs } }]
    })
    const used = await sums.ofRanges(
      accountId,
      ranges.map(({ range }) => range),
    )
    for (const [index, { budget, beginning }] of ranges.entries()) {
      const parts = [used[index], beginning].filter((part) => part !== undefined)
      ofBudgets.push({ id: budget.id, past: sumOf(parts) })
    }
  }
  return ofBudgets
}

function toPast(sum: Awaited<ReturnType<LedgerSums['since']>>[number]): PastUsage {
  return { ...sum, countsForQuota: countsForQuota(sum.target, sum.credential) }
}

const RETRY_MS = 5_000

export interface LoadingOptions {
  readonly usage: UsageLimits
  /**
   * Each load adds all usage or no usage. Budgets are loaded after quotas, because calls with only
   * a quota do not wait for budgets.
   */
  readonly loadQuotas: () => Promise<void>
  readonly loadBudgets: () => Promise<void>
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
  readonly retryMs?: number
}

/**
 * Retries until loading succeeds; until then, `usage` holds back calls that past usage could
 * refuse. The first attempt has begun when this function returns.
 * @returns false after an abort; never rejects
 */
export async function keepLoading(options: LoadingOptions): Promise<boolean> {
  const { usage, signal, onFailure, retryMs = RETRY_MS } = options
  let isQuotaLoaded = false
  while (!signal.aborted) {
    const quotas = isQuotaLoaded ? Promise.resolve() : options.loadQuotas()
    const budgets = quotas.then(() => {
      isQuotaLoaded = true
      return options.loadBudgets()
    })
    usage.awaitPast({ quotas, budgets })
    try {
      await budgets
      return true
    } catch (error) {
      if (!signal.aborted) onFailure(error)
    }
    await sleep(withJitter(retryMs), undefined, { signal, ref: false }).catch(() => {})
  }
  return false
}

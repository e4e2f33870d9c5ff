/**
 * A budget: the maximum that one key or one gate may use in a period. Knows nothing of counting.
 */
import { type AccountId, createId, type GateId, type KeyId } from './ids.ts'
import { toUsd } from './money.ts'
import type { Period } from './period.ts'

/** The limit: tokens (input and output together), or money. */
export type BudgetLimit =
  | { readonly type: 'tokens'; readonly tokens: number }
  /** Billionths of a US dollar. */
  | { readonly type: 'spend'; readonly nanoUsd: number }

export type BudgetScope =
  | { readonly type: 'key'; readonly keyId: KeyId }
  | { readonly type: 'gate'; readonly gateId: GateId }

/**
 * The rule for a target without a known price when the limit is in money, because its usage would
 * not count.
 */
export type UnpricedRule = 'refuse' | 'allow'

export interface Budget {
  readonly accountId: AccountId
  readonly id: string
  readonly name: string
  readonly scope: BudgetScope
  readonly limit: BudgetLimit
  readonly period: Period
  /** No effect for limits in tokens. */
  readonly unpriced: UnpricedRule
  /**
   * Shares of the limit, ascending, above 0 and at most 1. An event is sent when one is reached,
   * once per period.
   */
  readonly alertAt: readonly number[]
  /** Milliseconds since the Unix epoch. Earlier calls do not count. */
  readonly createdAt: number
  readonly updatedAt: number
}

export function createBudgetId(): string {
  return createId('bud')
}

/** The part of an amount that counts against a limit. */
export function amountOf(
  limit: BudgetLimit,
  amounts: { readonly tokens: number; readonly nanoUsd: number },
): number {
  return limit.type === 'tokens' ? amounts.tokens : amounts.nanoUsd
}

/** The limit's own number: tokens, or billionths of a US dollar. */
export function ceilingOf(limit: BudgetLimit): number {
  return limit.type === 'tokens' ? limit.tokens : limit.nanoUsd
}

/** The public form of a budget, listed field by field, without its usage. */
export function toPublicBudget(budget: Budget) {
  const { limit, scope } = budget
  return {
    id: budget.id,
    name: budget.name,
    keyId: scope.type === 'key' ? scope.keyId : null,
    gateId: scope.type === 'gate' ? scope.gateId : null,
    limitTokens: limit.type === 'tokens' ? limit.tokens : null,
    limitUsd: limit.type === 'spend' ? toUsd(limit.nanoUsd) : null,
    period: budget.period,
    unpriced: budget.unpriced,
    alertAt: [...budget.alertAt],
    createdAt: new Date(budget.createdAt).toISOString(),
    updatedAt: new Date(budget.updatedAt).toISOString(),
  }
}

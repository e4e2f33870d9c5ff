/** A budget: the maximum that one key or one gate may use in a period. */
import { type AccountId, createId, type GateId, type KeyId } from './ids.ts'
import { toUsd } from './money.ts'
import type { Period } from './period.ts'

/** Tokens count input and output together. */
export type BudgetLimit =
  | { readonly type: 'tokens'; readonly tokens: number }
  /** Billionths of a US dollar. */
  | { readonly type: 'spend'; readonly nanoUsd: number }

export type BudgetScope =
  | { readonly type: 'key'; readonly keyId: KeyId }
  | { readonly type: 'gate'; readonly gateId: GateId }

/**
 * The rule for a target without a known price, whose usage would otherwise not count against a
 * limit in money.
 */
export const UNPRICED_RULES = ['estimate', 'refuse', 'allow'] as const
export type UnpricedRule = (typeof UNPRICED_RULES)[number]

export interface Budget {
  readonly accountId: AccountId
  readonly id: string
  readonly name: string
  readonly scope: BudgetScope
  readonly limit: BudgetLimit
  readonly period: Period
  readonly unpriced: UnpricedRule
  /**
   * Shares of the limit, ascending, above 0 and at most 1. Reaching a share sends an event, once
   * per period.
   */
  readonly alertAt: readonly number[]
  /** Milliseconds since the Unix epoch. Earlier calls do not count. */
  readonly createdAt: number
  readonly updatedAt: number
}

export function createBudgetId(): string {
  return createId('bud')
}

export function amountOf(
  limit: BudgetLimit,
  amounts: { readonly tokens: number; readonly nanoUsd: number },
): number {
  return limit.type === 'tokens' ? amounts.tokens : amounts.nanoUsd
}

export function ceilingOf(limit: BudgetLimit): number {
  return limit.type === 'tokens' ? limit.tokens : limit.nanoUsd
}

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

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

/** An amount above the limit, in the limit's unit, until a time. */
export interface BudgetRaise {
  readonly by: number
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number
}

export interface Budget {
  readonly accountId: AccountId
  readonly id: string
  readonly name: string
  readonly scope: BudgetScope
  readonly limit: BudgetLimit
  readonly period: Period
  readonly unpriced: UnpricedRule
  /** The operator's words to callers whose calls are refused. */
  readonly message?: string | null | undefined
  readonly raise?: BudgetRaise | null | undefined
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

/** @param nowMs the limit includes a raise that has not ended */
export function ceilingOf({ limit, raise }: Pick<Budget, 'limit' | 'raise'>, nowMs: number) {
  const most = limit.type === 'tokens' ? limit.tokens : limit.nanoUsd
  return raise != null && nowMs < raise.untilMs ? most + raise.by : most
}

export function toPublicBudget(budget: Budget) {
  const { limit, scope, raise } = budget
  return {
    id: budget.id,
    name: budget.name,
    keyId: scope.type === 'key' ? scope.keyId : null,
    gateId: scope.type === 'gate' ? scope.gateId : null,
    limitTokens: limit.type === 'tokens' ? limit.tokens : null,
    limitUsd: limit.type === 'spend' ? toUsd(limit.nanoUsd) : null,
    period: budget.period,
    unpriced: budget.unpriced,
    message: budget.message ?? null,
    raise: raise == null ? null : toPublicRaise(raise, limit),
    alertAt: [...budget.alertAt],
    createdAt: new Date(budget.createdAt).toISOString(),
    updatedAt: new Date(budget.updatedAt).toISOString(),
  }
}

function toPublicRaise({ by, untilMs }: BudgetRaise, { type }: BudgetLimit) {
  return { by: type === 'tokens' ? by : toUsd(by), until: new Date(untilMs).toISOString() }
}

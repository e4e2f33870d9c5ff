/** A budget: the maximum that an account, or a part of its calls, may use in a period (0122). */
import type { Fuse } from './fuse.ts'
import { type AccountId, createId, type GateId, type KeyId } from './ids.ts'
import { toUsd } from './money.ts'
import { hourOf, type Period, spanOf } from './period.ts'
import { UTC } from './time-zone.ts'

/** Tokens count input and output together. */
export type BudgetLimit =
  | { readonly type: 'tokens'; readonly tokens: number }
  /** Billionths of a US dollar. */
  | { readonly type: 'spend'; readonly nanoUsd: number }

/** `each-…`: a default limit of its own for every user, or for every key and service token. */
export const BUDGET_SCOPES = [
  'account',
  'key',
  'gate',
  'user',
  'tag',
  'each-user',
  'each-key',
] as const

export type BudgetScope =
  | { readonly type: 'account' | 'each-user' | 'each-key' }
  | { readonly type: 'key'; readonly keyId: KeyId }
  | { readonly type: 'gate'; readonly gateId: GateId }
  | BudgetUser
  | BudgetTag

export interface BudgetUser {
  readonly type: 'user'
  /** As in the ledger: a member's id, or `end:` and the hash of `endUser`. */
  readonly userId: string
  /** A name that calls send. Undefined: the user is a member. */
  readonly endUser?: string | undefined
}

export interface BudgetTag {
  readonly type: 'tag'
  /** `name` or `name:value`. */
  readonly tag: string
  /** The hash of `tag`, as in the ledger. */
  readonly tagId: string
}

/** The dimension of the ledger that a scope selects; none for `account` and `each-…`. */
export interface LedgerScope {
  readonly keyId?: KeyId | undefined
  readonly gateId?: GateId | undefined
  readonly userId?: string | undefined
  readonly tagId?: string | undefined
}

/**
 * The end of the part of a budget's first day that is read from the calls: sums of users and tags
 * are by day, other sums by hour.
 */
export function endOfBeginning({ userId, tagId }: LedgerScope, createdAtMs: number): number {
  const isByDay = userId !== undefined || tagId !== undefined
  return isByDay ? spanOf('day', createdAtMs).endsAtMs : hourOf(createdAtMs).endsAtMs
}

export function toLedgerScope(scope: BudgetScope): LedgerScope {
  switch (scope.type) {
    case 'key':
      return { keyId: scope.keyId }
    case 'gate':
      return { gateId: scope.gateId }
    case 'user':
      return { userId: scope.userId }
    case 'tag':
      return { tagId: scope.tagId }
    default:
      return {}
  }
}

/**
 * The rule for a target without a known price, whose usage would otherwise not count against a
 * limit in money.
 */
export const UNPRICED_RULES = ['estimate', 'refuse', 'allow'] as const
export type UnpricedRule = (typeof UNPRICED_RULES)[number]

/**
 * The effect of a used-up budget on calls. `refuse`: calls are refused. `cheaper`: calls keep their
 * cheaper targets. `free-only`: calls keep their targets of price 0.
 */
export const AT_LIMIT_RULES = ['refuse', 'cheaper', 'free-only'] as const
export type AtLimitRule = (typeof AT_LIMIT_RULES)[number]

/**
 * The effect of a budget on one call. `preferred`: a target's `when` put the target first. `kept`:
 * the call continued a turn, so it kept the turn's target.
 */
export const BUDGET_ACTIONS = ['refused', 'cheaper', 'free-only', 'preferred', 'kept'] as const
export type BudgetAction = (typeof BUDGET_ACTIONS)[number]

export const DEFAULT_REFUSE_AT = 1.2

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
  /** IANA name. Undefined: UTC. */
  readonly timeZone?: string | undefined
  readonly unpriced: UnpricedRule
  /** The account's message to callers of refused calls. */
  readonly message?: string | null | undefined
  readonly raise?: BudgetRaise | null | undefined
  /** Default: `refuse`. */
  readonly atLimit?: AtLimitRule | undefined
  /** The share of the limit at which calls are refused, for a rule other than `refuse`. */
  readonly refuseAt?: number | null | undefined
  /** Counts each session and user over the calls that the budget counts. */
  readonly fuse?: Fuse | null | undefined
  /**
   * Shares of the limit, ascending, above 0 and at most 1. Reaching a share sends an event, once
   * per period.
   */
  readonly alertAt: readonly number[]
  /** Milliseconds since the Unix epoch. Earlier calls do not count. */
  readonly createdAt: number
  readonly updatedAt: number
}

const ID_PREFIX = 'bud'

export function createBudgetId(): string {
  return createId(ID_PREFIX)
}

/** @param limit the name of a limit, as in `GatewayError.limit` */
export function isBudgetId(limit: string | undefined): limit is string {
  return limit?.startsWith(`${ID_PREFIX}_`) === true
}

export function amountOf(
  limit: BudgetLimit,
  amounts: { readonly tokens: number; readonly nanoUsd: number },
): number {
  return limit.type === 'tokens' ? amounts.tokens : amounts.nanoUsd
}

export function timeZoneOf({ timeZone = UTC }: Pick<Budget, 'timeZone'>): string {
  return timeZone
}

/** @param nowMs the limit includes a raise that has not ended */
export function ceilingOf({ limit, raise }: Pick<Budget, 'limit' | 'raise'>, nowMs: number) {
  const most = limit.type === 'tokens' ? limit.tokens : limit.nanoUsd
  return raise != null && nowMs < raise.untilMs ? most + raise.by : most
}

/** The amount from which calls are refused, in the limit's unit. */
export function refusalAmountOf(
  budget: Pick<Budget, 'limit' | 'raise' | 'atLimit' | 'refuseAt'>,
  nowMs: number,
) {
  const ceiling = ceilingOf(budget, nowMs)
  return steers(budget) ? Math.round(ceiling * (budget.refuseAt ?? DEFAULT_REFUSE_AT)) : ceiling
}

export function steers({ atLimit = 'refuse' }: Pick<Budget, 'atLimit'>): boolean {
  return atLimit !== 'refuse'
}

export function toPublicBudget(budget: Budget) {
  const { limit, scope, raise } = budget
  return {
    id: budget.id,
    name: budget.name,
    ...toPublicScope(scope),
    limitTokens: limit.type === 'tokens' ? limit.tokens : null,
    limitUsd: limit.type === 'spend' ? toUsd(limit.nanoUsd) : null,
    period: budget.period,
    timeZone: timeZoneOf(budget),
    unpriced: budget.unpriced,
    message: budget.message ?? null,
    raise: raise == null ? null : toPublicRaise(raise, limit),
    atLimit: budget.atLimit ?? 'refuse',
    refuseAt: steers(budget) ? (budget.refuseAt ?? DEFAULT_REFUSE_AT) : null,
    fuse: budget.fuse ?? null,
    alertAt: [...budget.alertAt],
    createdAt: new Date(budget.createdAt).toISOString(),
    updatedAt: new Date(budget.updatedAt).toISOString(),
  }
}

export function toPublicScope(scope: BudgetScope) {
  const isMember = scope.type === 'user' && scope.endUser === undefined
  return {
    scope: scope.type,
    keyId: scope.type === 'key' ? scope.keyId : null,
    gateId: scope.type === 'gate' ? scope.gateId : null,
    member: isMember ? scope.userId : null,
    endUser: scope.type === 'user' ? (scope.endUser ?? null) : null,
    tag: scope.type === 'tag' ? scope.tag : null,
  }
}

function toPublicRaise({ by, untilMs }: BudgetRaise, { type }: BudgetLimit) {
  return { by: type === 'tokens' ? by : toUsd(by), until: new Date(untilMs).toISOString() }
}

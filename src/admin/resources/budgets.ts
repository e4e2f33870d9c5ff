/** `/v1/budgets`: reads and writes budgets. */

import {
  type BudgetBody,
  budgetResource,
  type CreateBudgetBody,
  MAX_LIMIT_TOKENS,
  NEEDS_STEERING,
} from '../../contract/budgets.ts'
import { findUnrecorded } from '../../contract/unrecorded-callers.ts'
import type { AttributionSettings } from '../../core/attribution.ts'
import {
  amountOf,
  type Budget,
  type BudgetLimit,
  type BudgetRaise,
  ceilingOf,
  DEFAULT_REFUSE_AT,
  toPublicBudget,
} from '../../core/budget.ts'
import { GatewayError } from '../../core/errors.ts'
import type { FuseOwner } from '../../core/fuse.ts'
import type { Gate } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import { MAX_NANO_USD, toNanoUsd, toUsd } from '../../core/money.ts'
import { spanOf } from '../../core/period.ts'
import type { NewBudget } from '../../limits/budget-registry.ts'
import type { UsageWindow } from '../../limits/usage-counter.ts'
import { PeopleView } from '../calls/people-view.ts'
import {
  assertOwnerOrKey,
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { bindResource } from '../resource-routes.ts'
import { bindBudgetHeads } from './budget-heads.ts'
import { toScope } from './budget-scope.ts'
import { bindFusedStops } from './fused-stops.ts'

export function bindBudgets(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { attribution, budgets, gates, stops, whenCounted } = dependencies
  const toBody = (budget: Budget, caller: ControlPlaneCaller) => {
    const people = new PeopleView(caller, dependencies)
    return toBudgetBody(budget, budgets.windowOf(budget), people.seesBudget(budget))
  }

  bindResource(app, budgetResource, {
    word: 'budget',
    list: (accountId) => budgets.list(accountId),
    show: (accountId, id) => budgets.get(accountId, id),
    async create(accountId, body, bindings) {
      const caller = callerOf(bindings)
      const budget = await toNewBudget(dependencies, accountId, body)
      assertMayLimit(caller, budget)
      assertRecorded(attribution.settingsOf(accountId), body)
      return toBody(await budgets.create(accountId, budget), caller)
    },
    async update(accountId, id, changes, caller) {
      assertMayLimit(caller, budgets.get(accountId, id))
      const { name, limitTokens, limitUsd, unpriced, message, alertAt } = changes
      await whenCounted(accountId, [budgets.get(accountId, id)])
      const before = budgets.get(accountId, id)
      const limit = toLimit({ limitTokens, limitUsd })
      const { type } = before.limit
      const other = type === 'tokens' ? limitUsd : limitTokens
      if (other !== undefined) {
        const field = toLimitField(type === 'tokens' ? 'spend' : 'tokens')
        throw refuse([
          { field, message: 'is not what this budget limits; create a new budget instead' },
        ])
      }
      const raise = toRaise(changes.raise, type)
      const after = {
        limit: limit ?? before.limit,
        raise: raise === undefined ? before.raise : raise,
      }
      if (raise != null || limit !== undefined)
        assertBounded(after, raise != null ? 'raise.by' : toLimitField(type))
      const rule = toRule(changes, before)
      const words = { name, unpriced, message, alertAt, fuse: changes.fuse }
      const change = { ...words, ...rule, limit, raise }
      const budget = await budgets.update(accountId, id, change)
      if (budget.fuse == null) await stops.followFused(accountId, toFuseOwner(budget))
      return toBody(budget, caller)
    },
    delete: (accountId, id, caller) =>
      gates.whileUnchanged(async () => {
        assertMayLimit(caller, budgets.get(accountId, id))
        assertUnused(gates.list(accountId), id)
        const owner = toFuseOwner(budgets.get(accountId, id))
        await budgets.delete(accountId, id)
        await stops.followFused(accountId, owner)
      }),
    idOf: ({ id }) => id,
    toBody,
    beforeShowing: whenCounted,
    bindOthers() {
      bindBudgetHeads(app, dependencies)
      bindFusedStops(app, dependencies, {
        ...{ path: '/v1/budgets', name: 'Budget', one: 'budget', group: 'Budgets' },
        get: (accountId, id) => toFuseOwner(budgets.get(accountId, id)),
        assertMayLift: (caller, id) => assertMayLimit(caller, budgets.get(caller.accountId, id)),
      })
    },
  })
}

function toFuseOwner({ id }: Budget): FuseOwner {
  return { type: 'budget', id }
}

/**
 * Members limit only themselves.
 * @throws GatewayError `forbidden` for a budget of other people
 */
function assertMayLimit(caller: ControlPlaneCaller, { scope }: Pick<Budget, 'scope'>): void {
  const { actor } = caller
  if (scope.type !== 'user' && scope.type !== 'each-user') return
  if (actor.type === 'user' && scope.type === 'user' && scope.userId === actor.userId) return
  assertOwnerOrKey(caller)
}

/** @throws GatewayError `invalid_request` for callers who are not recorded, so that no call would count */
function assertRecorded(settings: AttributionSettings, body: CreateBudgetBody): void {
  const unrecorded = findUnrecorded(body, settings)
  if (unrecorded === undefined) return
  const { field, who, switches } = unrecorded
  const message =
    `would count no call, because the account does not record ${who}. First switch on ` +
    `${switches.map((name) => `\`${name}\``).join(' or ')} under Settings → Account, or ` +
    'with PATCH /v1/account/attribution'
  throw refuse([{ field, message }])
}

/** @throws GatewayError `invalid_request` when the account has no such key, gate, member or tag */
export async function toNewBudget(
  dependencies: ControlPlaneDependencies,
  accountId: AccountId,
  body: CreateBudgetBody,
): Promise<NewBudget> {
  const { limitTokens, limitUsd, period, unpriced, message, alertAt, timeZone, fuse } = body
  const { scope, name: nameOfScope } = await toScope(dependencies, accountId, body)
  const limit = toLimit({ limitTokens, limitUsd })
  // Unreachable, because the contract requires a limit.
  if (limit === undefined) throw refuse([{ field: 'limitTokens', message: 'is required' }])
  const name = body.name ?? nameOfScope
  const words = { name, unpriced, message, alertAt, fuse }
  return { ...words, ...toRule(body, {}), scope, limit, period, timeZone, raise: null }
}

function toLimit(given: {
  readonly limitTokens?: number | undefined
  readonly limitUsd?: number | undefined
}): BudgetLimit | undefined {
  const { limitTokens, limitUsd } = given
  if (limitTokens !== undefined) return { type: 'tokens', tokens: limitTokens }
  return limitUsd === undefined ? undefined : { type: 'spend', nanoUsd: toNanoUsd(limitUsd) }
}

function assertUnused(gates: readonly Gate[], id: string): void {
  const users = gates
    .filter(({ targets }) => targets.some(({ when }) => when?.budget === id))
    .map((gate) => gate.id)
  if (users.length === 0) return
  const named = users.length === 1 ? `the gate ${users[0]}` : `the gates ${users.sort().join(', ')}`
  throw new GatewayError(
    'conflict',
    `A target of ${named} depends on the budget: remove its condition (when) there first.`,
    { details: { gates: users } },
  )
}

type Rule = Pick<Budget, 'atLimit' | 'refuseAt'>

/** @throws GatewayError `invalid_request` for a wall of a budget that refuses at its limit */
function toRule(given: Rule, before: Rule): Rule {
  const { atLimit = before.atLimit ?? 'refuse', refuseAt = before.refuseAt } = given
  if (atLimit !== 'refuse') return { atLimit, refuseAt: refuseAt ?? DEFAULT_REFUSE_AT }
  if (given.refuseAt != null) throw refuse([{ field: 'refuseAt', message: NEEDS_STEERING }])
  return { atLimit, refuseAt: null }
}

/** @returns undefined: not given */
function toRaise(
  given: BudgetBody['raise'] | undefined,
  type: BudgetLimit['type'],
): BudgetRaise | null | undefined {
  if (given == null) return given
  const by = type === 'tokens' ? Math.round(given.by) : toNanoUsd(given.by)
  if (by < 1) throw refuse([{ field: 'raise.by', message: 'must be at least one token' }])
  return { by, untilMs: Date.parse(given.until) }
}

function toLimitField(type: BudgetLimit['type']): 'limitTokens' | 'limitUsd' {
  return type === 'tokens' ? 'limitTokens' : 'limitUsd'
}

/**
 * Amounts above the highest limit are not exact.
 * @throws GatewayError `invalid_request` when the limit and its raise exceed the highest limit
 */
function assertBounded(budget: Pick<Budget, 'limit' | 'raise'>, field: string): void {
  const { type } = budget.limit
  const most = type === 'tokens' ? MAX_LIMIT_TOKENS : MAX_NANO_USD
  if (ceilingOf(budget, Date.now()) <= most) return
  const words = type === 'tokens' ? `${most} tokens` : `${toUsd(most)} US dollars`
  throw refuse([{ field, message: `must be less: the limit with its raise is at most ${words}` }])
}

function toBudgetBody(
  budget: Budget,
  window: UsageWindow | undefined,
  isSeen: boolean,
): BudgetBody {
  const { limit } = budget
  const endsAtMs = window?.endsAtMs ?? spanOf(budget.period, Date.now(), budget.timeZone).endsAtMs
  return {
    ...toPublicBudget(budget),
    ...(window === undefined || !isSeen ? { used: null, reserved: null } : toFigures(window)),
    isExhausted: isSeen
      ? window !== undefined && amountOf(limit, window.shown) >= ceilingOf(budget, Date.now())
      : null,
    resetsAt: Number.isFinite(endsAtMs) ? new Date(endsAtMs).toISOString() : null,
  }
}

function toFigures({ shown, reservedTokens, reservedNanoUsd }: UsageWindow) {
  const { tokens, nanoUsd, unpricedCalls } = shown
  return {
    used: { tokens, usd: toUsd(nanoUsd), unpricedCalls },
    reserved: { tokens: reservedTokens, usd: toUsd(reservedNanoUsd) },
  }
}

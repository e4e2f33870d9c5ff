/**
 * Changes a call's targets by the rules of its used-up budgets (decision 0122). Fallbacks, hedges
 * and the caller's own choice use the returned targets too.
 */
import type { BudgetAction } from '../core/budget.ts'
import { formOfDialect } from '../core/dialects.ts'
import type { Gate } from '../core/gate.ts'
import { listAskedFirst, mayBeSteeredTo } from '../core/steering.ts'
import { endsWithToolResult } from '../wire/ends-with-tool-result.ts'
import type { AdmittedCall, Call } from './call.ts'
import { isModelIgnored } from './find-gate.ts'
import type { Target } from './plan/compile-target.ts'
import type { Plan } from './plan/plan-targets.ts'
import type { CountedBudget } from './ports.ts'
import { countedNanoUsd, knownNanoUsd } from './target-cost.ts'
import { type TurnTargets, turnOf } from './turn-targets.ts'

export interface SteerPorts {
  /** Undefined: turns do not keep their targets. */
  readonly turns?: TurnTargets | undefined
}

/** @throws GatewayError the refusal of the used-up budget, when no target is left */
export function steerTargets(ports: SteerPorts, call: AdmittedCall, plan: Plan): Plan {
  const { budgets } = call.admission.ticket
  return budgets === undefined ? plan : steerByBudgets(ports, call, { plan, budgets })
}

interface Steered {
  readonly plan: Plan
  readonly budgets: readonly CountedBudget[]
}

function steerByBudgets(
  { turns }: SteerPorts,
  call: AdmittedCall,
  { plan, budgets }: Steered,
): Plan {
  const { gate, preferredBy } = plan
  const maySteer =
    budgets.some(({ atLimit }) => atLimit !== 'refuse') ||
    gate.targets.some(({ when }) => when !== undefined)
  if (!maySteer) return plan
  const turn = turnOf(call)
  call.turn = { id: turn, isKept: false }
  const usedUp = findUsedUp(call, budgets)
  if (usedUp === undefined && preferredBy === undefined) return plan
  const allowed = usedUp === undefined ? plan.targets : keepAllowed(usedUp, call, plan)
  const kept = findKept(plan.targets, allowed, () =>
    endsWithToolResult(plan.request.body) ? turns?.find(turn) : undefined,
  )
  const targets =
    kept === undefined ? allowed : [kept, ...allowed.filter((target) => target !== kept)]
  if (usedUp !== undefined) {
    if (targets.length === 0) throw usedUp.toRefusal()
    lowerReservations(budgets, call, targets)
  }
  call.turn = { id: turn, isKept: kept !== undefined }
  const id = usedUp?.id ?? preferredBy ?? ''
  if (kept !== undefined) reportBudget(call, id, 'kept')
  else if (usedUp === undefined) reportBudget(call, id, 'preferred')
  else if (targets.length < plan.targets.length) reportBudget(call, id, ruleOf(usedUp))
  else if (preferredBy !== undefined) reportBudget(call, preferredBy, 'preferred')
  return toPlan(call, plan, targets)
}

/** The strictest rule applies. Calls that cost nothing are not steered. */
function findUsedUp(
  { dialect }: AdmittedCall,
  budgets: readonly CountedBudget[],
): CountedBudget | undefined {
  if (!formOfDialect(dialect.id).isCharged) return undefined
  const usedUp = budgets.filter(({ isUsedUp }) => isUsedUp)
  return usedUp.find(({ atLimit }) => atLimit === 'free-only') ?? usedUp[0]
}

function ruleOf({ atLimit }: CountedBudget): BudgetAction {
  return atLimit === 'free-only' ? 'free-only' : 'cheaper'
}

function keepAllowed(
  budget: CountedBudget,
  call: AdmittedCall,
  { gate, targets }: Plan,
): readonly Target[] {
  const below = ruleOf(budget) === 'free-only' ? 0 : mostOfFirst(gate, call, targets)
  return targets.filter((target) => mayBeSteeredTo(knownNanoUsd(call, target), below))
}

/**
 * The maximum cost of the targets that the gate's strategy may ask first. The first target of this
 * call may be cheaper, because of its weight, its `when` or a resting target, so the cost of that
 * target alone is not enough.
 */
function mostOfFirst(gate: Gate, call: AdmittedCall, planned: readonly Target[]): number {
  const named = (name: string) => planned.find((target) => target.name === name)
  const usable = gate.targets.filter(({ model }) => named(model) !== undefined)
  const costs = listAskedFirst(gate.strategy, usable).map(({ model }) => {
    const target = named(model)
    return target === undefined ? 0 : (countedNanoUsd(call, target) ?? 0)
  })
  return Math.max(0, ...costs)
}

/** @param findServed the name of the target that served the turn's last call */
function findKept(
  planned: readonly Target[],
  allowed: readonly Target[],
  findServed: () => string | undefined,
): Target | undefined {
  const served = findServed()
  if (served === undefined || allowed[0]?.name === served) return undefined
  return planned.find(({ name }) => name === served)
}

/** A call reserves the cost of the gate's most expensive target until its targets are known. */
function lowerReservations(
  budgets: readonly CountedBudget[],
  call: AdmittedCall,
  targets: readonly Target[],
): void {
  let most = 0
  for (const target of targets) {
    const nanoUsd = countedNanoUsd(call, target)
    if (nanoUsd === undefined) return
    most = Math.max(most, nanoUsd)
  }
  for (const budget of budgets) budget.lowerTo(most)
}

function toPlan(call: AdmittedCall, plan: Plan, targets: readonly Target[]): Plan {
  const { request } = plan
  const isOtherFirst = targets[0] !== plan.targets[0]
  const isChoiceLost = isOtherFirst && isModelIgnored(call.accepted) && !isModelIgnored(request)
  if (!isChoiceLost) return { ...plan, targets }
  return { ...plan, targets, request: { ...request, ignored: [...request.ignored, 'model'] } }
}

const BUDGET_HEADER = 'x-gatehouse-budget'

/**
 * Adds the budget to the headers of callers who may know the budget and, unless the budget refused
 * the call, to the record of the call.
 */
export function reportBudget(call: Call, id: string, action: BudgetAction): void {
  const text = `${id}; ${action}`
  if (action !== 'refused') call.steeredBy = text
  if (call.caller?.token !== undefined || call.gate?.budgetHeaders === true)
    call.headers[BUDGET_HEADER] = text
}

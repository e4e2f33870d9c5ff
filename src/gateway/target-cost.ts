/**
 * The maximum cost of a call at any of its targets, estimated before any of them is asked. Knows no
 * provider, and not where prices come from.
 */
import type { ToolKind } from '../core/cost.ts'
import type { Gate, GateTarget } from '../core/gate.ts'
import { MODEL_MEMBERS } from '../providers/define.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import { readNamedModels } from './named-models.ts'
import { findChosen, isTargetName } from './plan/plan-targets.ts'
import type { Caller, Limits, Prices } from './ports.ts'

interface CostPorts {
  readonly limits: Pick<Limits, 'limitsSpend'>
  /** Undefined: no prices are known. */
  readonly prices?: Prices | undefined
}

interface EstimatedCall {
  readonly call: AskingCall
  /** Tools that the provider is asked to run; one use of each is counted. */
  readonly tools: readonly ToolKind[]
  readonly inputTokens: number
  /** The output limit in tokens, or the usual output. */
  readonly outputTokens: number
}

interface AskingCall {
  readonly caller: Caller
  readonly accepted: AcceptedRequest
  readonly gate: Gate | undefined
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
}

/**
 * In billionths of a US dollar; 0 when no limit is in money. The maximum, because the target that
 * will answer is unknown, and an average of cheap calls says nothing about expensive ones.
 */
export function maximumNanoUsd(
  { limits, prices }: CostPorts,
  { call, tools, inputTokens, outputTokens }: EstimatedCall,
): number {
  const { caller, accepted, gate, startedAt } = call
  const { accountId } = caller
  if (prices === undefined || !limits.limitsSpend(caller, accepted.gateId)) return 0
  const usage = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 }
  const costOf = (target: string) =>
    prices.priceOf({ accountId, target, usage, startedAt, outcome: 'succeeded' })?.nanoUsd ?? 0
  const named = readNamedModels(accepted.body, MODEL_MEMBERS).flatMap(({ models }) => models)
  let most = 0
  for (const { model: target } of gate === undefined ? [] : listCandidates(gate, accepted)) {
    const fees = tools.length === 0 ? 0 : prices.feesOf(target, tools)
    const others = named.map((model) => costOf(siblingOf(target, model)))
    most = Math.max(most, Math.max(costOf(target), ...others) + fees)
  }
  return most
}

/** Another model of the target's provider. */
export function siblingOf(target: string, model: string): string {
  return `${target.slice(0, target.indexOf('/'))}/${model}`
}

/** The gate's targets, and the one that the caller chooses. */
function listCandidates(gate: Gate, accepted: AcceptedRequest): readonly GateTarget[] {
  const chosen = findChosen(gate, accepted)
  // A choice that is not a target's name is refused later and has no price.
  return chosen !== undefined && isTargetName(chosen.model)
    ? [chosen, ...gate.targets]
    : gate.targets
}

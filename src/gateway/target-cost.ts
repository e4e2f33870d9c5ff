/** Estimates the maximum cost of a call over all its possible targets. */
import type { ToolKind } from '../core/cost.ts'
import type { Gate, GateTarget } from '../core/gate.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import { MODEL_MEMBERS } from '../providers/define.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import { readNamedModels } from './named-models.ts'
import { findChosen, isTargetName } from './plan/plan-targets.ts'
import type { Caller, Prices } from './ports.ts'

interface EstimatedCall {
  readonly call: AskingCall
  /** Each tool counts as one use. */
  readonly tools: readonly ToolKind[]
  readonly inputTokens: number
  readonly outputTokens: number
  readonly estimateAs: UnpricedKind | undefined
}

interface AskingCall {
  readonly caller: Caller
  readonly accepted: AcceptedRequest
  readonly gate: Gate | undefined
  readonly startedAt: number
}

/**
 * Returns billionths of a US dollar. The maximum counts, because the answering target is unknown and
 * an average hides expensive calls.
 */
export function maximumNanoUsd(
  prices: Prices | undefined,
  { call, tools, inputTokens, outputTokens, estimateAs }: EstimatedCall,
): number {
  const { caller, accepted, gate, startedAt } = call
  const { accountId } = caller
  if (prices === undefined) return 0
  const usage = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 }
  const costOf = (target: string) =>
    prices.priceOf({ accountId, target, usage, startedAt, outcome: 'succeeded', estimateAs })
      ?.nanoUsd ?? 0
  const named = readNamedModels(accepted.body, MODEL_MEMBERS).flatMap(({ models }) => models)
  let most = 0
  for (const { model: target } of gate === undefined ? [] : listCandidates(gate, accepted)) {
    const fees = tools.length === 0 ? 0 : prices.feesOf(target, tools)
    const others = named.map((model) => costOf(siblingOf(target, model)))
    most = Math.max(most, Math.max(costOf(target), ...others) + fees)
  }
  return most
}

export function siblingOf(target: string, model: string): string {
  return `${target.slice(0, target.indexOf('/'))}/${model}`
}

function listCandidates(gate: Gate, accepted: AcceptedRequest): readonly GateTarget[] {
  const chosen = findChosen(gate, accepted)
  // A choice that is not a target's name has no price, and a later stage refuses it.
  return chosen !== undefined && isTargetName(chosen.model)
    ? [chosen, ...gate.targets]
    : gate.targets
}

/** Estimates the maximum cost of a call over all its possible targets. */
import type { ToolKind } from '../core/cost.ts'
import type { Gate, GateTarget } from '../core/gate.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import { MODEL_MEMBERS } from '../providers/define.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall } from './call.ts'
import { readNamedModels } from './named-models.ts'
import type { Target } from './plan/compile-target.ts'
import { findChosen, isTargetName } from './plan/plan-targets.ts'
import type { Caller, Prices } from './ports.ts'
import { findSurcharge } from './surcharges.ts'

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

/**
 * The cost of the call's estimate at a target, in billionths of a US dollar. Undefined: the price is
 * not known, or the request may choose another one.
 */
export function knownNanoUsd(call: PlannedCall, target: Target): number | undefined {
  const { caller, accepted, admission, startedAt: at } = call
  const { prices } = admission
  if (prices === undefined) return undefined
  const { accountId } = caller
  const isSurcharged = findSurcharge(accepted.body) !== undefined
  const named = readNamedModels(accepted.body, target.modelMembers ?? []).flatMap(
    ({ models }) => models,
  )
  const names = [target.name, ...named.map((model) => siblingOf(target.name, model))]
  if (!names.every((name) => prices.isPriced(accountId, name, { at, isSurcharged })))
    return undefined
  return maximumCost(call, target, names)
}

/** As `knownNanoUsd`, or else the amount that a limit in money counts. */
export function countedNanoUsd(call: PlannedCall, target: Target): number | undefined {
  return knownNanoUsd(call, target) ?? maximumCost(call, target, [target.name])
}

type PlannedCall = Pick<AdmittedCall, 'caller' | 'accepted' | 'admission' | 'startedAt'>

function maximumCost(
  { caller: { accountId }, admission, startedAt }: PlannedCall,
  { name: own, ownedPrices, isTranslated }: Target,
  names: readonly string[],
): number | undefined {
  const { prices, tools, inputTokens, outputTokens, estimateAs } = admission
  if (prices === undefined) return undefined
  const usage = {
    // Without a token, a paid target would seem to be free.
    inputTokens: Math.max(1, inputTokens),
    outputTokens: Math.max(1, outputTokens),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
  const call = { accountId, usage, startedAt, outcome: 'succeeded', estimateAs } as const
  let most = 0
  for (const target of names) {
    const { nanoUsd = null } = prices.priceOf({ ...call, target, ownedPrices }) ?? {}
    if (nanoUsd === null) return undefined
    most = Math.max(most, nanoUsd)
  }
  return most + (isTranslated || tools.length === 0 ? 0 : prices.feesOf(own, tools))
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

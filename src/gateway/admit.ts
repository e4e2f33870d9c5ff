/**
 * Stage 3: may this key call now? Takes a place under its limits, which settle gives back, for as
 * many tokens as the call will probably use: an estimate from what accept has read already. Between
 * plan and attempt it says which of the planned targets the call may be sent to, and for which of
 * them the account's quota is set aside. Knows no vendor, and not where prices come from.
 */
import type { CallCredential } from '../core/call.ts'
import { formOfDialect } from '../core/dialects.ts'
import { GatewayError } from '../core/errors.ts'
import type { Gate, GateTarget } from '../core/gate.ts'
import type { AccountId } from '../core/ids.ts'
import { ownedSlugOf } from '../core/owned-model.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall, Call } from './call.ts'
import {
  estimateInputTokens,
  estimateTokens,
  MAX_OUTPUT_TOKENS,
  readAnswers,
  readOutputCap,
} from './estimate-tokens.ts'
import { MODEL_MEMBERS, readNamedModels } from './named-models.ts'
import type { Target } from './plan/compile-target.ts'
import { findChosen, isTargetName, type Plan } from './plan/plan-targets.ts'
import type { Caller, GateStore, Ledger, Limits, PriceDemand, Prices, Ticket } from './ports.ts'
import { keepOwnIds, keepWithinGate } from './shared-credential.ts'
import { findSurcharge, listHostedTools } from './surcharges.ts'

/**
 * A promise only where other nodes have to be asked.
 * @throws GatewayError (or rejects with it) `rate_limited`, `quota_exceeded` for a budget, or
 * `unavailable` while usage cannot be written down
 */
export function admit(
  ports: AdmitPorts,
  call: Call,
  { caller, accepted }: { readonly caller: Caller; readonly accepted: AcceptedRequest },
): AdmittedCall | Promise<AdmittedCall> {
  // A call that cannot be written down must not cost money upstream (design §6).
  ports.ledger.assertWritable()
  const tools = listHostedTools(accepted.body, call.dialect)
  call.tools = tools
  const gate = ports.gates.find(caller.accountId, accepted.gateId)
  const outputCap = readOutputCap(accepted.body, call.dialect.readSpoken, gate)
  call.outputCap = outputCap
  const usualTokens = outputCap === undefined ? usualTokensOf(ports, call, gate, accepted.body) : 0
  const ahead = {
    gateId: accepted.gateId,
    startedAtMs: call.startedAt,
    estimatedTokens: estimateTokens(accepted, outputCap),
    usualTokens,
  }
  const asked = { caller, accepted, gate, outputTokens: outputCap ?? usualTokens }
  const leastNanoUsd = dearestNanoUsd(ports, call, asked)
  const ticket = ports.limits.admit(caller, leastNanoUsd === 0 ? ahead : { ...ahead, leastNanoUsd })
  return ticket instanceof Promise ? admitLater(call, ticket) : toAdmitted(call, ticket)
}

// What a call without a cap on its output will write is learned from those before it.

/** For a gate that nothing is known of yet. */
const UNKNOWN_TOKENS = 500
/** Parts of the way to what the last call wrote. Long answers are heeded sooner than short ones. */
const RISE = 1 / 2
const FALL = 1 / 16

/**
 * How much a gate's calls write that name no cap on their output, as far as this process has seen.
 */
export class UsualOutput {
  /** A gate that was changed is another object: it may have other targets. */
  readonly #byGate = new WeakMap<Gate, number>()

  /** Tokens of one answer, a whole number. */
  of(gate: Gate): number {
    return Math.ceil(this.#byGate.get(gate) ?? UNKNOWN_TOKENS)
  }

  /** @param tokens of one answer */
  note(gate: Gate, tokens: number): void {
    const known = this.#byGate.get(gate)
    const step = known === undefined ? 1 : tokens > known ? RISE : FALL
    const from = known ?? 0
    this.#byGate.set(gate, Math.min(MAX_OUTPUT_TOKENS, from + (tokens - from) * step))
  }
}

/** Of a call that may write as much as it likes; notes that its gate learns from it. */
function usualTokensOf(
  { usualOutput }: AdmitPorts,
  call: Call,
  gate: Gate | undefined,
  body: AcceptedRequest['body'],
): number {
  if (usualOutput === undefined || gate === undefined) return 0
  if (!formOfDialect(call.dialect.id).writesText) return 0
  const answers = readAnswers(body)
  // Not every target knows the number of answers, and one would seem to be a part of it.
  if (answers === 1) call.teaches = gate
  return Math.min(MAX_OUTPUT_TOKENS, usualOutput.of(gate) * answers)
}

interface AskedGate {
  readonly caller: Caller
  readonly accepted: AcceptedRequest
  readonly gate: Gate | undefined
  /** That it may write, or usually does. */
  readonly outputTokens: number
}

/**
 * The cost of the call, with one use of each tool that it offers, at the dearest of its gate's
 * targets and the one that the caller chooses, where a limit in money asks: nobody knows yet which of them will answer, and an average of cheap
 * calls says nothing of dear ones.
 */
function dearestNanoUsd(
  { limits, prices }: AdmitPorts,
  { startedAt, tools }: Call,
  { caller, accepted, gate, outputTokens }: AskedGate,
): number {
  const { accountId } = caller
  const { gateId, body } = accepted
  if (prices === undefined || !limits.limitsSpend(caller, gateId)) return 0
  const inputTokens = estimateInputTokens(body)
  const usage = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 }
  let most = 0
  const costOf = (target: string) =>
    prices.priceOf({ accountId, target, usage, startedAt, outcome: 'succeeded' })?.nanoUsd ?? 0
  const named = readNamedModels(body, MODEL_MEMBERS).flatMap(({ models }) => models)
  for (const { model: target } of gate === undefined ? [] : listCandidates(gate, accepted)) {
    const fees = tools.length === 0 ? 0 : prices.feesOf(target, tools)
    const others = named.map((model) => costOf(siblingOf(target, model)))
    most = Math.max(most, Math.max(costOf(target), ...others) + fees)
  }
  return most
}

/** Another model of a target's provider. */
function siblingOf(target: string, model: string): string {
  return `${target.slice(0, target.indexOf('/'))}/${model}`
}

function listCandidates(gate: Gate, accepted: AcceptedRequest): readonly GateTarget[] {
  const chosen = findChosen(gate, accepted)
  // What is no name of one is refused later, and no price is looked up for it.
  return chosen !== undefined && isTargetName(chosen.model)
    ? [chosen, ...gate.targets]
    : gate.targets
}

async function admitLater(call: Call, ticket: Promise<Ticket>): Promise<AdmittedCall> {
  return toAdmitted(call, await ticket)
}

/** Its caller and its request are known by now. */
function toAdmitted(call: Call, ticket: Ticket): AdmittedCall {
  call.ticket = ticket
  const { headers } = ticket
  for (const name in headers) call.headers[name] = headers[name] ?? ''
  return call as AdmittedCall
}

/**
 * The plan with those targets that may be sent the request's ids, whose price is known where a
 * limit asks for it, and that the account's quota has room for. A promise only where other nodes
 * have to be asked.
 * @throws GatewayError (or rejects with it) that says why there is none
 */
export function restrictTargets(
  ports: PricedPorts,
  plan: Plan,
  { caller, ticket, startedAt: startedAtMs, dialect }: AdmittedCall,
): Plan | Promise<Plan> {
  const { gate, request, targets } = plan
  const own = keepOwnIds(request, dialect, keepWithinGate(request, targets))
  const asked = { targets: own, body: request.body, gateId: gate.id, startedAtMs }
  const priced = keepPriced(ports, caller, asked)
  const allowed = reserveQuota(ticket, priced)
  return allowed instanceof Promise ? planLater(plan, allowed) : withTargets(plan, allowed)
}

async function planLater(plan: Plan, targets: Promise<readonly Target[]>): Promise<Plan> {
  return withTargets(plan, await targets)
}

function withTargets(plan: Plan, targets: readonly Target[]): Plan {
  return targets === plan.targets ? plan : { ...plan, targets }
}

// The use of a target whose price is not known would not count against a limit in money.

interface AdmitPorts extends PricedPorts {
  readonly ledger: Ledger
  readonly gates: Pick<GateStore, 'find'>
  /** Absent: nothing is learned of gates, and nothing set aside for what a call without a cap writes. */
  readonly usualOutput?: UsualOutput | undefined
}

interface PricedPorts {
  readonly limits: Limits
  /** Absent: no price is known. */
  readonly prices?: Prices | undefined
}

/** @throws GatewayError `invalid_request` with the code `price_unknown` when none is left */
function keepPriced(
  { limits, prices }: PricedPorts,
  caller: Caller,
  call: Omit<PricedCall, 'accountId'> & { readonly gateId: string },
): readonly Target[] {
  const demand = limits.priceDemand(caller, call.gateId)
  return demand === undefined
    ? call.targets
    : keepThosePriced(prices, demand, { ...call, accountId: caller.accountId })
}

function keepThosePriced(
  prices: Prices | undefined,
  demand: PriceDemand,
  { targets, body, startedAtMs: at, accountId }: PricedCall,
): readonly Target[] {
  const surcharge = findSurcharge(body)
  const isSurcharged = surcharge !== undefined
  const isPriced = (target: Target) =>
    prices?.isPriced(accountId, target.name, { at, isSurcharged }) === true &&
    findUnpriced(prices, target, { body, at, accountId }) === undefined
  const priced = targets.filter(
    (target) => whoDemands(demand, target) === undefined || isPriced(target),
  )
  const [refused] = targets
  if (priced.length > 0 || refused === undefined)
    return priced.length === targets.length ? targets : priced
  const who = whoDemands(demand, refused) ?? ''
  const isListed = prices?.isPriced(accountId, refused.name, { at }) === true
  const naming =
    isListed && !isSurcharged ? findUnpriced(prices, refused, { body, at, accountId }) : undefined
  if (naming !== undefined) throw modelsUnknown(naming, who)
  throw surcharge !== undefined && isListed
    ? surchargeUnknown(surcharge, who)
    : priceUnknown(refused, who)
}

/** The member of the request that may lead to a model of the target's vendor without a price. */
function findUnpriced(
  prices: Prices | undefined,
  { name, modelMembers }: Target,
  { body, at, accountId }: Pick<PricedCall, 'body' | 'accountId'> & { readonly at: number },
): string | undefined {
  if (modelMembers === undefined) return undefined
  const isPriced = (model: string) =>
    prices?.isPriced(accountId, siblingOf(name, model), { at }) === true
  return readNamedModels(body, modelMembers).find(({ models }) => !models.every(isPriced))?.member
}

interface PricedCall {
  readonly targets: readonly Target[]
  readonly body: AcceptedRequest['body']
  readonly startedAtMs: number
  readonly accountId: AccountId
}

/** A plan's quota is not concerned with targets that the account pays for itself. */
function whoDemands({ budget, plan }: PriceDemand, { name, owner }: Target): string | undefined {
  if (budget !== undefined) return budget
  return countsForQuota(name, owner === 'account' ? 'own' : 'platform') ? plan : undefined
}

function priceUnknown({ name }: Target, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The price of ${name} is not known, so nothing it uses would count against ${who}, which is in money. ` +
      'Declare a price: register the model as an owned model with its prices, and put that into the gate; of a provider in gatehouse.yaml the operator of this gateway declares prices there. ' +
      `Or let ${who} allow it: set its "unpriced" to "allow".`,
    { code: 'price_unknown' },
  )
}

function modelsUnknown(member: string, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `'${member}' can lead to a model whose price is not known, so too little would count against ${who}, which is in money. ` +
      `Name models with a known price, leave it out, or let ${who} allow it: set its "unpriced" to "allow".`,
    { code: 'price_unknown', param: member },
  )
}

function surchargeUnknown(member: string, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `'${member}' asks for what costs more than tokens at their listed price, and how much is not known, so too little would count against ${who}, which is in money. ` +
      `Leave it out, or let ${who} allow it: set its "unpriced" to "allow".`,
    { code: 'price_unknown', param: member },
  )
}

/**
 * The targets that the call may go to: with the quota used up, those that the account pays for
 * itself. A promise only where other nodes have to be asked.
 * @throws GatewayError `quota_exceeded`, or `rate_limited` while what is left is reserved, when
 * there is none of those
 */
export function reserveQuota(
  ticket: Ticket,
  targets: readonly Target[],
): readonly Target[] | Promise<readonly Target[]> {
  if (!targets.some(isPlatforms)) return targets
  const refusal = ticket.reserveQuota()
  return refusal instanceof Promise
    ? targetsLater(refusal, targets)
    : targetsWithout(refusal, targets)
}

async function targetsLater(
  refusal: Promise<GatewayError | undefined>,
  targets: readonly Target[],
): Promise<readonly Target[]> {
  return targetsWithout(await refusal, targets)
}

function targetsWithout(
  refusal: GatewayError | undefined,
  targets: readonly Target[],
): readonly Target[] {
  if (refusal === undefined) return targets
  const own = targets.filter((target) => !isPlatforms(target))
  if (own.length === 0) throw refusal
  return own
}

function isPlatforms({ name, owner }: Target): boolean {
  return countsForQuota(name, owner === 'account' ? 'own' : 'platform')
}

/**
 * Whether the platform pays for a call to a target. A quota is not concerned with calls that the
 * account pays for itself.
 * @param target `provider/model`, or `owned/<slug>` for a model of the account's own
 * @param credential that it was asked with, or will be; `platform` also where only a target that
 * lost to it was; null when none was asked, and in rows of older versions
 */
export function countsForQuota(target: string | null, credential: CallCredential | null): boolean {
  return credential === null
    ? target === null || ownedSlugOf(target) === undefined
    : credential === 'platform'
}

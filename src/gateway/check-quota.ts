/**
 * Stage between plan and attempt: removes targets that may not get the ids in the request, that
 * have no known price although a limit is in money, that used-up budgets exclude, or that exceed
 * the account's quota.
 */
import type { CallCredential } from '../core/call.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { continueWith, type MaybePromise } from '../core/maybe-promise.ts'
import { ownedSlugOf } from '../core/owned-model.ts'
import type { AcceptedRequest } from '../wire/dialect.ts'
import type { AdmittedCall } from './call.ts'
import { readNamedModels } from './named-models.ts'
import type { Target } from './plan/compile-target.ts'
import type { Plan } from './plan/plan-targets.ts'
import type { Limits, PriceDemand, Prices, Ticket } from './ports.ts'
import { keepOwnIds, keepWithinGate } from './shared-credential.ts'
import { type SteerPorts, steerTargets } from './steer-targets.ts'
import { findSurcharge } from './surcharges.ts'
import { siblingOf } from './target-cost.ts'

export interface QuotaPorts extends SteerPorts {
  readonly limits: Pick<Limits, 'priceDemand'>
}

/**
 * Returns a promise only when this node has to ask other nodes.
 * @throws GatewayError (or rejects with it) when no target is left
 */
export function checkQuota(ports: QuotaPorts, call: AdmittedCall, plan: Plan): MaybePromise<Plan> {
  const { caller, admission, startedAt: startedAtMs, dialect } = call
  const { request, targets } = plan
  const own = keepOwnIds(request, dialect, keepWithinGate(request, targets))
  const common = { targets: own, body: request.body, startedAtMs }
  const { prices } = admission
  const demand = ports.limits.priceDemand(caller, admission.dimensions)
  const priced =
    demand === undefined
      ? own
      : keepThosePriced(prices, demand, { ...common, accountId: caller.accountId })
  const steered = steerTargets(
    ports,
    call,
    priced === targets ? plan : { ...plan, targets: priced },
  )
  return continueWith(reserveQuota(admission.ticket, steered.targets), (allowed) =>
    allowed === steered.targets ? steered : { ...steered, targets: allowed },
  )
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

function whoDemands({ budget, plan }: PriceDemand, { name, owner }: Target): string | undefined {
  if (budget !== undefined) return budget
  return countsForQuota(name, owner === 'account' ? 'own' : 'platform') ? plan : undefined
}

function priceUnknown({ name }: Target, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The price of ${name} is unknown, so its usage would not count against ${who}, which is in money. ` +
      `${howToPrice(name)} To count such calls at an estimated price, set "unpriced" of ${who} to "estimate".`,
    { code: 'price_unknown' },
  )
}

function howToPrice(target: string): string {
  return ownedSlugOf(target) === undefined
    ? `Ask the operator to add the price to gatehouse.yaml under "models", in US dollars per million tokens: - {model: ${target}, prices: [{input: …, output: …}]}.`
    : 'Declare the prices of this owned model.'
}

function modelsUnknown(member: string, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `'${member}' may select a model whose price is unknown, so too little would count against ${who}, which is in money. ` +
      `Name models with a known price, or omit '${member}'. To count such calls at an estimated price, set "unpriced" of ${who} to "estimate".`,
    { code: 'price_unknown', param: member },
  )
}

function surchargeUnknown(member: string, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `'${member}' costs an unknown amount more than the listed token price, so too little would count against ${who}, which is in money. ` +
      `Omit '${member}'. To count such calls at the listed price, set "unpriced" of ${who} to "estimate".`,
    { code: 'price_unknown', param: member },
  )
}

/**
 * When the quota is used up, keeps only the targets that the account pays for itself.
 * @throws GatewayError `quota_exceeded`, or `rate_limited` while other calls have reserved the
 * unused quota, when no target is left
 */
export function reserveQuota(
  ticket: Ticket,
  targets: readonly Target[],
): MaybePromise<readonly Target[]> {
  if (!targets.some(isPlatforms)) return targets
  return continueWith(ticket.reserveQuota(), (refusal) => targetsWithout(refusal, targets))
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
 * @param target `provider/model`, or `owned/<slug>` for the account's own model
 * @param credential `platform` also when a platform target was asked and lost; null when no target
 * was asked, and in rows of older versions
 */
export function countsForQuota(target: string | null, credential: CallCredential | null): boolean {
  return credential === null
    ? target === null || ownedSlugOf(target) === undefined
    : credential === 'platform'
}

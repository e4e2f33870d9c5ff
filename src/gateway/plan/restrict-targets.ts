/**
 * Between plan and attempt: which of the planned targets a call may be sent to, and with which of
 * them the account's quota is set aside. Knows no vendor, and not where prices come from.
 */
import type { CallCredential } from '../../core/call.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import type { AcceptedRequest } from '../../wire/dialect.ts'
import type { AdmittedCall } from '../call.ts'
import type { Caller, Limits, PriceDemand, Prices, Ticket } from '../ports.ts'
import type { Target } from './compile-target.ts'
import type { Plan } from './plan-targets.ts'

/**
 * The plan with those targets that may be sent the request's ids, whose price is known where a
 * limit asks for it, and that the account's quota has room for. A promise only where other nodes
 * have to be asked.
 * @throws GatewayError (or rejects with it) that says why there is none
 */
export function restrictTargets(
  ports: PricedPorts,
  plan: Plan,
  { caller, ticket, startedAt: startedAtMs }: AdmittedCall,
): Plan | Promise<Plan> {
  const { gate, request, targets } = plan
  const own = keepOwnIds(request, targets)
  const priced = keepPriced(ports, caller, { targets: own, gateId: gate.id, startedAtMs })
  const allowed = reserveQuota(ticket, priced)
  return allowed instanceof Promise ? planLater(plan, allowed) : withTargets(plan, allowed)
}

async function planLater(plan: Plan, targets: Promise<readonly Target[]>): Promise<Plan> {
  return withTargets(plan, await targets)
}

function withTargets(plan: Plan, targets: readonly Target[]): Plan {
  return targets === plan.targets ? plan : { ...plan, targets }
}

// Ids of things that live in a vendor's account (files, vector stores, containers) would open, on a
// credential that many accounts share, what others have put there.

/** Members whose text, or each of whose texts, is such an id. */
const ID_MEMBERS = [
  'file_id',
  'file_ids',
  'vector_store_ids',
  'container',
  'assistant_id',
  'thread_id',
]
/** What the model or the caller's own tools say: nothing in it means anything to the vendor. */
const FREE_MEMBERS = new Set(['input_schema', 'parameters', 'schema', 'metadata', 'arguments'])
const MAX_DEPTH = 64
/** Most of them hold it, and most prompts do not: one search of a large body in place of five. */
const SHARED_PART = '_id'
const SHARED_NEEDLE = Buffer.from(SHARED_PART)
const SHARING_NEEDLES = toNeedles(ID_MEMBERS.filter((name) => name.includes(SHARED_PART)))
const OTHER_NEEDLES = toNeedles(ID_MEMBERS.filter((name) => !name.includes(SHARED_PART)))
const decoder = new TextDecoder()

/**
 * @throws GatewayError `invalid_request` with the code `provider_account_id` when no target is left
 */
function keepOwnIds(request: AcceptedRequest, targets: readonly Target[]): readonly Target[] {
  if (!targets.some(isShared)) return targets
  const { bytes } = request.body
  // In text their quotes are escaped: nearly every call ends here.
  if (!mayHoldId(bytes)) return targets
  const path = findId(JSON.parse(decoder.decode(bytes)), 0)
  if (path === undefined) return targets
  const member = path.slice(1)
  const own = targets.filter((target) => !isShared(target))
  if (own.length > 0) return own
  throw new GatewayError(
    'invalid_request',
    `'${member}' names something in the provider's account, which this gateway's accounts share: calls with it need your own key of the provider. ` +
      'Set one (PUT /v1/provider-keys, or: gatehouse provider-keys set PROVIDER), or send the content itself.',
    { code: 'provider_account_id', param: member },
  )
}

function toNeedles(names: readonly string[]): readonly Buffer[] {
  return names.map((name) => Buffer.from(`"${name}"`))
}

function mayHoldId(body: Uint8Array): boolean {
  return (
    hasOneOf(body, OTHER_NEEDLES) ||
    (hasNeedle.call(body, SHARED_NEEDLE) && hasOneOf(body, SHARING_NEEDLES))
  )
}

function hasOneOf(body: Uint8Array, needles: readonly Buffer[]): boolean {
  for (const needle of needles) if (hasNeedle.call(body, needle)) return true
  return false
}

/** Called on the bytes themselves: a view of them would cost more than a search. */
const hasNeedle = Buffer.prototype.includes

function isShared({ owner }: Target): boolean {
  return owner === 'platform'
}

/** @returns where the first one is, from `value` on; made only when there is one */
function findId(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  // A call's input is the model's own words, whatever its members are called.
  const isCall = 'type' in value && value.type === 'tool_use'
  const isList = Array.isArray(value)
  for (const name in value) {
    if (FREE_MEMBERS.has(name) || (isCall && name === 'input')) continue
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[name]
    const step = () => (isList ? `[${name}]` : `.${name}`)
    if (!isList && ID_MEMBERS.includes(name) && holdsId(inner)) return step()
    const found = findId(inner, depth + 1)
    if (found !== undefined) return step() + found
  }
  return undefined
}

/**
 * As text, in a list, or as the `id` of an object: a container may be asked for anew (`{"type":
 * "auto"}`).
 */
function holdsId(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (Array.isArray(value)) return value.some(holdsId)
  return (
    typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
  )
}

// What a target uses whose price is not known would not count against a limit in money.

export interface PricedPorts {
  readonly limits: Limits
  /** Absent: no price is known. */
  readonly prices?: Prices | undefined
}

/** @throws GatewayError `invalid_request` with the code `price_unknown` when none is left */
function keepPriced(
  { limits, prices }: PricedPorts,
  caller: Caller,
  call: {
    readonly targets: readonly Target[]
    readonly gateId: string
    readonly startedAtMs: number
  },
): readonly Target[] {
  const demand = limits.priceDemand(caller, call.gateId)
  return demand === undefined
    ? call.targets
    : keepThosePriced(prices, demand, { ...call, accountId: caller.accountId })
}

function keepThosePriced(
  prices: Prices | undefined,
  demand: PriceDemand,
  { targets, startedAtMs, accountId }: PricedCall,
): readonly Target[] {
  const isPriced = ({ name }: Target) => prices?.isPriced(accountId, name, startedAtMs) === true
  const priced = targets.filter(
    (target) => whoDemands(demand, target) === undefined || isPriced(target),
  )
  const [refused] = targets
  if (priced.length > 0 || refused === undefined)
    return priced.length === targets.length ? targets : priced
  throw priceUnknown(refused, whoDemands(demand, refused) ?? '')
}

interface PricedCall {
  readonly targets: readonly Target[]
  readonly startedAtMs: number
  readonly accountId: AccountId
}

/** What the account pays for itself is no concern of its plan's quota. */
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

const OWN_MODELS = 'owned/'

/**
 * Whether the platform pays for a call to a target. What the account pays for itself is no concern
 * of its quota.
 * @param target `provider/model`, or `owned/<slug>` for a model of the account's own
 * @param credential that it was asked with, or will be; null when none was, and in rows of older
 * versions
 */
export function countsForQuota(target: string | null, credential: CallCredential | null): boolean {
  return credential !== 'own' && target?.startsWith(OWN_MODELS) !== true
}

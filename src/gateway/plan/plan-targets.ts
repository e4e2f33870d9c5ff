/**
 * Stage 4, plan: the gate's targets that can serve this call, in order, and the values that apply
 * when gate and request disagree (docs/decisions/0008).
 */
import type { DialectId } from '../../core/dialects.ts'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { Gate, GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import type { ModelOverlay } from '../../core/model-overlay.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import { catalog } from '../../providers/catalog.ts'
import type { Provider } from '../../providers/define.ts'
import { type AcceptedRequest, type Dialect, isRelayed } from '../../wire/dialect.ts'
import { translatorFor } from '../../wire/dialects.ts'
import { decideDefaults, overrideRejected } from '../../wire/gate-defaults.ts'
import { askingMember, presentMember } from '../../wire/request-fields.ts'
import { hasCarriers } from '../../wire/seal-carrier.ts'
import { describeReach, listGates } from '../access-token.ts'
import type { AdmittedCall } from '../call.ts'
import { isModelIgnored } from '../find-gate.ts'
import type {
  Caller,
  Credential,
  Credentials,
  GateStore,
  OwnedModelStore,
  OwnedUpstream,
  TargetCredential,
  Ticket,
} from '../ports.ts'
import {
  type CompilePorts,
  type FoundEndpoint,
  type Question,
  type ReachableProvider,
  type Target,
  toTarget,
} from './compile-target.ts'
import type { TargetOrder } from './order-targets.ts'
import { gateNotFound, noAddress, noCredential, wrongDialect, wrongModel } from './plan-refusals.ts'

export interface Plan {
  readonly gate: Gate
  readonly request: AcceptedRequest
  /** Empty only when the gateway answers itself. */
  readonly targets: readonly Target[]
  /**
   * The budget whose share of use moved the first target to the front. Undefined: the usual order.
   */
  readonly preferredBy?: string | undefined
}

export interface PlanPorts extends CompilePorts {
  readonly gates: Pick<GateStore, 'list'>
  readonly credentials: Credentials
  readonly ownedModels: OwnedModelStore
  readonly order: TargetOrder
}

/**
 * @throws GatewayError `gate_not_found`, or `invalid_request` when no target of the gate supports
 * the caller's dialect or the gate forbids a member of the request
 */
export function planTargets(
  ports: PlanPorts,
  {
    caller,
    accepted,
    gate,
    dialect,
    admission,
  }: Pick<AdmittedCall, 'caller' | 'accepted' | 'gate' | 'dialect'> & Partial<PlannedBudgets>,
): Plan {
  if (gate === undefined) {
    const gates = listGates(ports.gates, caller)
    throw gateNotFound(accepted, gates, describeReach(caller, gates))
  }
  const request = decides(gate, accepted) ? decideRequest(gate, accepted, dialect) : accepted
  const call = { gate, caller, dialect, request }
  const chosen = findChosen(gate, request)
  if (chosen !== undefined) return planChosen(ports, call, chosen)
  const preferred = findPreferred(gate, admission?.ticket.budgets)
  const { speaking, targets: found } = findTargets(ports, call, ports.order.of(gate, preferred))
  const targets = chooseHosts(gate, request, dialect, found)
  const [first] = targets
  if (first !== undefined)
    return { gate, request, targets, preferredBy: preferred?.get(first.name) }
  if (speaking.length > 0) throw noCredential(speaking)
  if (dialect.answerLocally !== undefined) return { gate, request, targets }
  throw whyNone(ports, call)
}

type PlannedBudgets = { readonly admission: { readonly ticket: Pick<Ticket, 'budgets'> } }

/** The targets whose `when` holds, and the budget that it names. */
function findPreferred(
  { targets }: Gate,
  budgets: Ticket['budgets'],
): ReadonlyMap<string, string> | undefined {
  if (budgets === undefined) return undefined
  let preferred: Map<string, string> | undefined
  for (const { model, when } of targets) {
    if (when === undefined) continue
    if (!budgets.some(({ id, share }) => id === when.budget && share >= when.from)) continue
    preferred ??= new Map()
    preferred.set(model, when.budget)
  }
  return preferred
}

function whyNone(ports: PlanPorts, { gate, dialect, request }: PlannedCall): GatewayError {
  const ids = [...new Set(gate.targets.map(providerIdOf))]
  const isAddressed = ids.some((id) => ports.providers.has(id) || ownedSlugOf(id) !== undefined)
  const lacksAddressAlone = !isAddressed && gate.targets.some((target) => mayServe(target, dialect))
  return lacksAddressAlone
    ? noAddress(ids)
    : wrongDialect(gate, dialect, request, speakersOf(ports, dialect))
}

/**
 * True when the target's provider could serve the call with an address. Unknown providers count.
 */
function mayServe(target: GateTarget, dialect: Dialect): boolean {
  const provider = catalog.find(({ id }) => id === providerIdOf(target))
  if (provider === undefined) return true
  if (isRelayed(dialect) && provider.endpoints[dialect.id] !== undefined) return true
  return findTranslated(provider, target.model.slice(provider.id.length + 1), dialect) !== undefined
}

function speakersOf({ providers }: PlanPorts, { id }: Dialect): string[] {
  return Array.from(providers.values())
    .filter(({ endpoints }) => id in endpoints)
    .map((provider) => provider.id)
}

interface PlannedCall {
  readonly gate: Gate
  readonly caller: Caller
  readonly dialect: Dialect
  readonly request: AcceptedRequest
}

function planChosen(ports: PlanPorts, call: PlannedCall, chosen: GateTarget): Plan {
  const { gate, caller, dialect, request } = call
  assertProviderModel(chosen.model, findUpstream(ports, caller.accountId, chosen.model))
  const others = ports.order.of(gate).filter(({ model }) => model !== chosen.model)
  const { speaking, targets: found } = findTargets(ports, call, [chosen, ...others])
  if (speaking[0]?.id !== providerIdOf(chosen)) throw wrongModel(dialect)
  const targets = chooseHosts(gate, request, dialect, found)
  if (targets.length === 0) throw noCredential(speaking)
  const isUsed = targets[0]?.name === chosen.model
  // Without a credential the chosen target is skipped, so the caller's choice is reported as
  // ignored.
  if (!isUsed) return { gate, request, targets }
  return {
    gate,
    request: { ...request, ignored: request.ignored.filter((name) => name !== 'model') },
    targets,
  }
}

function findTargets(
  ports: PlanPorts,
  { caller, dialect, request }: PlannedCall,
  candidates: readonly GateTarget[],
) {
  const { inboundCodec } = dialect
  const relays =
    inboundCodec === undefined || dialect.opensSeals === true || !hasCarriers(request.body)
  const targets: Target[] = []
  const speaking: ReachableProvider[] = []
  let unopened: GatewayError | undefined
  const question = { caller, dialect, relays, stream: request.stream }
  for (const candidate of candidates) {
    try {
      const { provider, target } = resolveTarget(ports, candidate, question)
      if (provider !== undefined) speaking.push(provider)
      if (target !== undefined) targets.push(target)
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      unopened ??= thrown
      const { provider } = findUpstream(ports, caller.accountId, candidate.model) ?? {}
      if (provider !== undefined) speaking.push(provider)
    }
  }
  // An unreadable credential counts as refused: another target may be asked, but no other
  // credential is used.
  if (targets.length === 0 && unopened !== undefined) throw unopened
  return { speaking, targets }
}

interface Resolution {
  readonly provider: ReachableProvider | undefined
  readonly target: Target | undefined
  readonly credential: TargetCredential | undefined
  /** Set for an owned model, which has its own credential and address. */
  readonly owned: OwnedUpstream | undefined
  readonly overlay: ModelOverlay | undefined
}

/** Compiled targets by target and dialect, one per kind of call, so calls share the compilation. */
const resolutions = new WeakMap<GateTarget, WeakMap<Dialect, (Resolution | undefined)[]>>()

function resolveTarget(ports: PlanPorts, candidate: GateTarget, question: Question): Resolution {
  const kept = keptFor(candidate, question.dialect)
  const { token } = question.caller
  const held = token === undefined ? 0 : token.overrides ? 4 : 8
  const kind = (question.stream ? 1 : 0) + (question.relays ? 2 : 0) + held
  const known = kept[kind]
  if (known !== undefined && isCurrent(ports, known, question.caller)) return known
  const found = findEndpoint(ports, candidate, question)
  const credential = found === undefined ? undefined : findCredential(ports, found, question.caller)
  const target =
    found === undefined || credential === undefined
      ? undefined
      : toTarget(ports, question, found, credential)
  const overlay = ports.overlay?.()
  const resolution = { provider: found?.provider, target, credential, owned: found?.owned, overlay }
  kept[kind] = resolution
  return resolution
}

function keptFor(candidate: GateTarget, dialect: Dialect): (Resolution | undefined)[] {
  const byDialect = resolutions.get(candidate)
  const known = byDialect?.get(dialect)
  if (known !== undefined) return known
  const kept: (Resolution | undefined)[] = []
  if (byDialect === undefined) resolutions.set(candidate, new WeakMap([[dialect, kept]]))
  else byDialect.set(dialect, kept)
  return kept
}

/** An owned model uses its own credential only. */
function findCredential(
  ports: PlanPorts,
  found: FoundEndpoint,
  caller: Caller,
): TargetCredential | undefined {
  return found.owned === undefined
    ? ports.credentials.find(caller.accountId, found.provider.id)
    : found.owned.credential
}

/** Providers, owned models, credentials and rules may change while the gate stays the same. */
function isCurrent(
  { providers, credentials, ownedModels, overlay }: PlanPorts,
  known: Resolution,
  caller: Caller,
): boolean {
  const { provider, credential, owned } = known
  if (provider === undefined || overlay?.() !== known.overlay) return false
  if (owned !== undefined) return ownedModels.find(caller.accountId, owned.slug) === owned
  return (
    providers.get(provider.id) === provider &&
    credentials.find(caller.accountId, provider.id) === credential
  )
}

function findEndpoint(
  ports: PlanPorts,
  target: GateTarget,
  { caller, dialect, relays }: Question,
): FoundEndpoint | undefined {
  const upstream = findUpstream(ports, caller.accountId, target.model)
  if (upstream === undefined) return undefined
  const { provider, model } = upstream
  const ownEndpoint = isRelayed(dialect) ? provider.endpoints[dialect.id] : undefined
  const translator = relays ? undefined : translatorFor(dialect, dialect.id)
  const found =
    ownEndpoint === undefined
      ? findTranslated(provider, model, dialect)
      : { endpoint: ownEndpoint, translator }
  if (found === undefined) return undefined
  return { target, name: target.model, ...upstream, ...found }
}

interface FoundUpstream {
  readonly provider: ReachableProvider
  readonly model: string
  readonly owned?: OwnedUpstream
}

export function findUpstream(
  ports: Pick<PlanPorts, 'providers' | 'ownedModels'>,
  accountId: AccountId,
  name: string,
): FoundUpstream | undefined {
  const slug = ownedSlugOf(name)
  if (slug !== undefined) {
    const owned = ports.ownedModels.find(accountId, slug)
    return owned && { provider: owned.provider, model: owned.model, owned }
  }
  const slash = name.indexOf('/')
  const provider = ports.providers.get(name.slice(0, slash))
  return provider && { provider, model: name.slice(slash + 1) }
}

/** An owned model is its own provider, so its full name is the provider's id. */
function providerIdOf({ model }: GateTarget): string {
  return ownedSlugOf(model) === undefined ? model.slice(0, model.indexOf('/')) : model
}

/**
 * The caller's dialect is relayed byte for byte if the provider supports the dialect. Otherwise the
 * request is translated.
 */
function findTranslated(provider: Provider, model: string, dialect: Dialect) {
  for (const [id, endpoint] of Object.entries(provider.endpoints)) {
    const translator = translatorFor(dialect, id as DialectId)
    if (translator !== undefined && (endpoint.translatedModels?.test(model) ?? true))
      return { endpoint, translator }
  }
  return undefined
}

function decides(gate: Gate, request: AcceptedRequest): boolean {
  return (
    gate.ignoreStore ||
    gate.defaults !== null ||
    (gate.overrides !== 'ignore' && isModelIgnored(request))
  )
}

function decideRequest(gate: Gate, given: AcceptedRequest, dialect: Dialect): AcceptedRequest {
  const request = gate.ignoreStore ? { ...given, ignoresStore: true } : given
  const { body, ignored } = request
  if (gate.overrides === 'reject' && isModelIgnored(request)) throw overrideRejected('model')
  if (gate.defaults === null || dialect.readExplicit === undefined) return request
  const decided = decideDefaults(gate, body, dialect.readExplicit)
  return { ...request, ignored: [...ignored, ...decided.ignored], defaults: decided.defaults }
}

/**
 * The target that the caller chose besides the gate. Undefined: the gate does not allow a choice.
 */
export function findChosen(
  gate: Gate,
  request: Pick<AcceptedRequest, 'body' | 'ignored'>,
): GateTarget | undefined {
  if (gate.overrides !== 'allow' || !isModelIgnored(request)) return undefined
  const { body } = request
  const member = presentMember(body, 'model')
  return member === undefined ? undefined : { model: String(body.value(member)) }
}

/** The same form as a gate's targets in contract/gates.ts. */
const TARGET = /^[A-Za-z0-9._-]+\/[\x21-\x7e]+$/
const MAX_TARGET_LENGTH = 200

export function isTargetName(model: string): boolean {
  return model.length <= MAX_TARGET_LENGTH && TARGET.test(model)
}

function assertProviderModel(model: string, upstream: object | undefined): void {
  if (isTargetName(model) && upstream !== undefined) return
  throw invalidRequest(
    "'model' beside 'gate_id' must be provider/model of a known provider, or the gate's id.",
    'model',
    'invalid_value',
  )
}

interface Host {
  readonly hosts: readonly string[] | undefined
  readonly owner: Credential['owner']
  readonly isShared: boolean
}

/**
 * Picks targets for requests that make the provider store or run something. Such members are never
 * ignored, because the answer would differ from the request (docs/decisions/0033).
 * @throws GatewayError `invalid_request` naming the member that no target supports
 */
function chooseHosts<Target extends Host>(
  gate: Gate,
  request: AcceptedRequest,
  dialect: Dialect,
  targets: readonly Target[],
): readonly Target[] {
  const { hosted } = dialect
  if (hosted === undefined || targets.length === 0) return targets
  let chosen = targets
  for (const name of hosted.names) {
    if (askingMember(request.body, name) === undefined) continue
    chosen = keepHosts(chosen, name)
    if (chosen.length === 0) throw hosted.refuse(name, describeMissing(gate, name))
    if (hosted.isState(name) && !isKept(gate, chosen))
      throw hosted.refuse(name, describeState(name))
  }
  return chosen
}

function keepHosts<Target extends Host>(
  targets: readonly Target[],
  name: string,
): readonly Target[] {
  return targets.filter((target) => target.hosts?.includes(name) === true)
}

/** The next call must reach the same provider account, which no other account may share. */
function isKept({ targets }: Gate, [first, ...others]: readonly Host[]): boolean {
  return (
    targets.length === 1 && others.length === 0 && first?.owner === 'account' && !first.isShared
  )
}

function describeMissing({ id }: Gate, name: string): string {
  return (
    `No target of the gate '${id}' has '${name}', which needs the provider to store or run something: ` +
    `omit '${name}', or name a gate with a target that supports it.`
  )
}

function describeState(name: string): string {
  return (
    `'${name}' refers to state in the provider's account. It is allowed only with the account's own provider key ` +
    '(PUT /v1/provider-keys) and a gate with one target. Otherwise send the whole conversation.'
  )
}

/**
 * Stage 4: gate → the ordered targets that can take this call, each with its address and
 * credential. No I/O.
 */
import { GatewayError } from '../../core/errors.ts'
import type { Gate, GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import { catalog } from '../../providers/catalog.ts'
import type { Provider } from '../../providers/define.ts'
import { CLIENT_CODECS } from '../../wire/client-codecs.ts'
import {
  type AcceptedRequest,
  type Dialect,
  type DialectId,
  isRelayed,
} from '../../wire/dialect.ts'
import { EMBEDDINGS_CODECS } from '../../wire/embeddings/embeddings-codecs.ts'
import { FIM_CODECS } from '../../wire/fill-in-the-middle/fim-codecs.ts'
import { hasCarriers } from '../../wire/seal-carrier.ts'
import type { CallHeaders } from '../attempt/call-headers.ts'
import type {
  Caller,
  Credentials,
  GateStore,
  OwnedModelStore,
  OwnedUpstream,
  TargetCredential,
} from '../ports.ts'
import {
  type FoundEndpoint,
  type Question,
  type ReachableProvider,
  type Target,
  toTarget,
} from './compile-target.ts'
import {
  assertProviderModel,
  chooseHosts,
  decideRequest,
  decides,
  findChosen,
} from './decide-request.ts'
import type { TargetOrder } from './order-targets.ts'
import { gateNotFound, noAddress, noCredential, wrongDialect, wrongModel } from './plan-refusals.ts'

export interface Plan {
  readonly gate: Gate
  /** As the gate has decided it. */
  readonly request: AcceptedRequest
  /** Empty only where the gateway answers itself. */
  readonly targets: readonly Target[]
}

export interface PlanPorts {
  readonly gates: GateStore
  readonly credentials: Credentials
  readonly providers: ReadonlyMap<string, ReachableProvider>
  readonly ownedModels: OwnedModelStore
  readonly order: TargetOrder
  readonly callHeaders: CallHeaders
}

/**
 * @throws GatewayError `gate_not_found`, or `invalid_request` when no target of the gate speaks the
 * caller's dialect or the caller says what the gate does not let it say
 */
export function planTargets(
  ports: PlanPorts,
  caller: Caller,
  accepted: AcceptedRequest,
  dialect: Dialect,
): Plan {
  const gate = ports.gates.find(caller.accountId, accepted.gateId)
  if (gate === undefined) throw gateNotFound(accepted)
  const request = decides(gate, accepted) ? decideRequest(gate, accepted, dialect) : accepted
  const call = { gate, caller, dialect, request }
  const chosen = findChosen(gate, request)
  if (chosen !== undefined) return planChosen(ports, call, chosen)
  const { speaking, targets: found } = findTargets(ports, call, ports.order.of(gate))
  const targets = chooseHosts(gate, request, dialect, found)
  if (targets.length > 0) return { gate, request, targets }
  if (speaking.length > 0) throw noCredential(speaking)
  if (dialect.answerLocally !== undefined) return { gate, request, targets }
  throw whyNone(ports, call)
}

/** Why none of a gate's targets can be asked in a caller's dialect. */
function whyNone(ports: PlanPorts, { gate, dialect, request }: PlannedCall): GatewayError {
  const ids = [...new Set(gate.targets.map(providerIdOf))]
  // An owned model brings its address with it.
  const isAddressed = ids.some((id) => ports.providers.has(id) || ownedSlugOf(id) !== undefined)
  const lacksAddressAlone = !isAddressed && gate.targets.some((target) => mayServe(target, dialect))
  return lacksAddressAlone
    ? noAddress(ids)
    : wrongDialect(gate, dialect, request, speakersOf(ports, dialect))
}

/**
 * Whether a provider that has no address here would be asked this if it had one; of those that
 * nobody knows, perhaps.
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

/** The target that the caller chose is asked first, and the gate's own follow. */
function planChosen(ports: PlanPorts, call: PlannedCall, chosen: GateTarget): Plan {
  const { gate, caller, dialect, request } = call
  assertProviderModel(chosen.model, findUpstream(ports, caller.accountId, chosen.model))
  const others = ports.order.of(gate).filter(({ model }) => model !== chosen.model)
  const { speaking, targets: found } = findTargets(ports, call, [chosen, ...others])
  if (speaking[0]?.id !== providerIdOf(chosen)) throw wrongModel(dialect)
  const targets = chooseHosts(gate, request, dialect, found)
  if (targets.length === 0) throw noCredential(speaking)
  const isAsked = targets[0]?.name === chosen.model
  // Without a credential it is passed over like every other target; then the caller's choice had no
  // effect, and stays named.
  if (!isAsked) return { gate, request, targets }
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
  const { serverCodec } = dialect
  const relays =
    serverCodec === undefined || dialect.opensSeals === true || !hasCarriers(request.body.bytes)
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
  // As one whose credential is refused: the next target may be asked, and this one not in any other
  // way.
  if (targets.length === 0 && unopened !== undefined) throw unopened
  return { speaking, targets }
}

interface Resolution {
  /** Undefined when it cannot be asked this at all. */
  readonly provider: ReachableProvider | undefined
  /** Undefined when nobody has configured a credential for its provider. */
  readonly target: Target | undefined
  readonly credential: TargetCredential | undefined
  /** Set when the target is an owned model, whose credential and address are its own. */
  readonly owned: OwnedUpstream | undefined
}

/**
 * By target and dialect, one for each of the four kinds of calls: what a call costs must not be
 * paid for what all share.
 */
const resolutions = new WeakMap<GateTarget, WeakMap<Dialect, (Resolution | undefined)[]>>()

/**
 * @throws GatewayError `provider_auth_failed` when the account's own credential cannot be opened
 */
function resolveTarget(ports: PlanPorts, candidate: GateTarget, question: Question): Resolution {
  const kept = keptFor(candidate, question.dialect)
  const kind = (question.stream ? 1 : 0) + (question.relays ? 2 : 0)
  const known = kept[kind]
  if (known !== undefined && isCurrent(ports, known, question.caller)) return known
  const found = findEndpoint(ports, candidate, question)
  const credential = found === undefined ? undefined : findCredential(ports, found, question.caller)
  const target =
    found === undefined || credential === undefined
      ? undefined
      : toTarget(ports.callHeaders, question, found, credential)
  const resolution = { provider: found?.provider, target, credential, owned: found?.owned }
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

/** An owned model has its own credential and never another. */
function findCredential(
  ports: PlanPorts,
  found: FoundEndpoint,
  caller: Caller,
): TargetCredential | undefined {
  return found.owned === undefined
    ? ports.credentials.find(caller.accountId, found.provider.id)
    : found.owned.credential
}

/** Providers, owned models and credentials may change under a gate that stays the same. */
function isCurrent(
  { providers, credentials, ownedModels }: PlanPorts,
  known: Resolution,
  caller: Caller,
): boolean {
  const { provider, credential, owned } = known
  if (provider === undefined) return false
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
  const spoken = isRelayed(dialect) ? provider.endpoints[dialect.id] : undefined
  const codec = relays || !isRelayed(dialect) ? undefined : CLIENT_CODECS[dialect.id]
  const found =
    spoken === undefined ? findTranslated(provider, model, dialect) : { endpoint: spoken, codec }
  if (found === undefined) return undefined
  return { target, name: target.model, ...upstream, ...found }
}

interface FoundUpstream {
  readonly provider: ReachableProvider
  /** As the upstream names it. */
  readonly model: string
  readonly owned?: OwnedUpstream
}

/** Whom a target names: a provider, or a model that this account has registered. */
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

/** An owned model is a provider of its own, whose id is all of its name. */
function providerIdOf({ model }: GateTarget): string {
  return ownedSlugOf(model) === undefined ? model.slice(0, model.indexOf('/')) : model
}

/**
 * The caller's own dialect is relayed byte for byte wherever the provider speaks it; only else is
 * anything translated.
 */
function findTranslated(provider: Provider, model: string, dialect: Dialect) {
  for (const [id, endpoint] of Object.entries(provider.endpoints)) {
    const embeddings =
      dialect.isEmbeddings === true ? EMBEDDINGS_CODECS[id as DialectId] : undefined
    if (embeddings !== undefined) return { endpoint, embeddings }
    const fim = dialect.isFim === true ? FIM_CODECS[id as DialectId] : undefined
    if (fim !== undefined) return { endpoint, fim }
    const codec = dialect.serverCodec === undefined ? undefined : CLIENT_CODECS[id as DialectId]
    if (codec !== undefined && (endpoint.translatedModels?.test(model) ?? true))
      return { endpoint, codec }
  }
  return undefined
}

/**
 * Stage 4: gate → the ordered targets that can take this call, each with its address and
 * credential. No I/O.
 */
import { GatewayError } from '../../core/errors.ts'
import type { Gate, GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import type { Secret } from '../../core/secret.ts'
import { catalog } from '../../providers/catalog.ts'
import type { Endpoint, Provider, Signing } from '../../providers/define.ts'
import { CommonHeaders } from '../../upstream/request-head.ts'
import { CLIENT_CODECS } from '../../wire/client-codecs.ts'
import type { ClientCodec, ModelTraits } from '../../wire/codec.ts'
import {
  type AcceptedRequest,
  type Dialect,
  type DialectId,
  isRelayed,
  type RelayTarget,
} from '../../wire/dialect.ts'
import type { EmbeddingsCodec } from '../../wire/embeddings/embeddings-codec.ts'
import { EMBEDDINGS_CODECS } from '../../wire/embeddings/embeddings-codecs.ts'
import type { FimCodec } from '../../wire/fill-in-the-middle/fim-codec.ts'
import { FIM_CODECS } from '../../wire/fill-in-the-middle/fim-codecs.ts'
import { hasCarriers } from '../../wire/seal-carrier.ts'
import type {
  Caller,
  Credential,
  Credentials,
  GateStore,
  OwnedModelStore,
  OwnedUpstream,
  TargetCredential,
} from '../ports.ts'
import { chooseHosts } from './choose-hosts.ts'
import { assertProviderModel, decideRequest, decides, findChosen } from './decide-request.ts'
import { healthKey, type TargetOrder } from './order-targets.ts'
import { gateNotFound, noAddress, noCredential, wrongDialect, wrongModel } from './plan-refusals.ts'
import { originOf } from './seal-origin.ts'

/** A provider with the address that this gateway reaches it at. */
export interface ReachableProvider extends Provider {
  readonly baseUrl: string
}

export interface Target extends RelayTarget {
  /** `provider/model`, as the gate names it. */
  readonly name: string
  readonly url: string
  readonly providerId: string
  /** Undefined: its server takes none, and no header carries any. */
  readonly credential: Secret | undefined
  /** Whose credential it is. */
  readonly owner: Credential['owner']
  /** Set when the credential may be one that signs. */
  readonly signing: Signing | undefined
  /**
   * What every request to it says: its credential, and the provider's own. Made anew with the
   * target when either changes.
   */
  readonly common: CommonHeaders
  /** Set when the target speaks another dialect than the caller. */
  readonly codec: ClientCodec | undefined
  /** The same for requests for embeddings. */
  readonly embeddings: EmbeddingsCodec | undefined
  /** And for those that fill in the middle. */
  readonly fim: FimCodec | undefined
  readonly traits: ModelTraits
  /** Members of the request by which it keeps or runs something itself; undefined: it has none. */
  readonly hosts: readonly string[] | undefined
  /** Its address is a customer's: where it leads is checked for each call. */
  readonly isGuarded: boolean
  /**
   * Who signs this target's reasoning, and can read it again: its provider under this credential.
   */
  readonly sealOrigin: string
  /** Names it in this node's memory of how targets do (circuit-breakers.ts). */
  readonly healthKey: string
}

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
  const ids = [...new Set(gate.targets.map(providerIdOf))]
  // An owned model brings its address with it.
  const isAddressed = ids.some((id) => ports.providers.has(id) || ownedSlugOf(id) !== undefined)
  const lacksAddressAlone = !isAddressed && gate.targets.some((target) => mayServe(target, dialect))
  throw lacksAddressAlone
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
  const opensSeals = isRelayed(dialect) && dialect.opensSeals === true
  const relays = serverCodec === undefined || opensSeals || !hasCarriers(request.body.bytes)
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

/** What decides how a target of a gate is asked, beside the target itself. */
interface Question {
  readonly caller: Caller
  readonly dialect: Dialect
  /** False when the request holds what an upstream of its own dialect would not understand. */
  readonly relays: boolean
  readonly stream: boolean
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
      : toTarget(question, found, credential)
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

interface FoundEndpoint {
  readonly target: GateTarget
  readonly name: string
  readonly model: string
  readonly provider: ReachableProvider
  readonly endpoint: Endpoint
  readonly owned?: OwnedUpstream | undefined
  readonly codec?: ClientCodec | undefined
  readonly embeddings?: EmbeddingsCodec
  readonly fim?: FimCodec
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

/** Whether a target's answers are in another dialect than its caller's. */
export function isTranslated(target: Target): boolean {
  return target.codec !== undefined || target.embeddings !== undefined || target.fim !== undefined
}

function toTarget(
  { caller, stream }: Question,
  found: FoundEndpoint,
  credential: TargetCredential,
): Target {
  const { provider, endpoint, model, name, owned } = found
  return {
    name,
    model,
    url: provider.baseUrl + pathOf(endpoint, model, stream),
    providerId: provider.id,
    credential: credential.secret,
    owner: credential.owner,
    signing: provider.signing,
    common: toCommonHeaders(provider, credential.secret),
    codec: found.codec,
    embeddings: found.embeddings,
    fim: found.fim,
    traits: traitsOf(provider, model),
    takesEffort: takesEffort(found),
    isGuarded: owned !== undefined,
    sealOrigin: originOf(provider.id, credential.secret),
    healthKey: healthKey(caller, found.target),
    isReasoningModel: provider.reasoningModels?.test(model) ?? false,
    countsStreamsOnRequest: endpoint.countsStreamsOnRequest ?? false,
    insteadOfModel: endpoint.insteadOfModel,
    checksSignatures: endpoint.checksSignatures,
    hosts: found.codec === undefined ? endpoint.hosts : undefined,
  }
}

/** What the client says of its dialect's version counts, and nothing that it says of the rest. */
function toCommonHeaders(
  { keyHeader, headers, fixedHeaders }: Provider,
  credential: Secret | undefined,
): CommonHeaders {
  const key = credential?.reveal()
  return new CommonHeaders(
    {
      ...(key === undefined
        ? {}
        : keyHeader === undefined
          ? { authorization: `Bearer ${key}` }
          : { [keyHeader]: key }),
      ...fixedHeaders,
      'content-type': 'application/json',
      // The answer is read on its way through, so it is asked for as it is.
      'accept-encoding': 'identity',
    },
    headers,
  )
}

function pathOf({ path, streamPath }: Endpoint, model: string, stream: boolean): string {
  const chosen = stream ? (streamPath ?? path) : path
  return chosen.includes('{model}') ? chosen.replace('{model}', encodeURIComponent(model)) : chosen
}

const NO_TRAITS: ModelTraits = {}

export function traitsOf(provider: Provider, model: string): ModelTraits {
  return provider.traits?.find(([pattern]) => pattern.test(model))?.[1] ?? NO_TRAITS
}

/**
 * Of a vendor or an owned model whose data says nothing of reasoning, nothing is known: then the
 * operator's word counts.
 */
function takesEffort({ provider, model, owned }: FoundEndpoint): boolean {
  const { traits, reasoningModels } = provider
  if (reasoningModels?.test(model) === true || traitsOf(provider, model).reasoning !== undefined)
    return true
  if (owned !== undefined) return traits?.some(([pattern]) => pattern.test(model)) !== true
  return traits === undefined && reasoningModels === undefined
}

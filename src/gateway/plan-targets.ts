/** Stage 4: gate → the ordered targets that can take this call, each with its address and credential. No I/O. */
import { GatewayError, invalidRequest } from '../core/errors.ts'
import type { Gate, GateTarget } from '../core/gate.ts'
import type { Secret } from '../core/secret.ts'
import type { Endpoint, Provider, Signing } from '../providers/define.ts'
import { CLIENT_CODECS } from '../wire/client-codecs.ts'
import type { ClientCodec, ModelTraits } from '../wire/codec.ts'
import {
  type AcceptedRequest,
  type Dialect,
  type DialectId,
  isRelayed,
  type RelayTarget,
} from '../wire/dialect.ts'
import type { EmbeddingsCodec } from '../wire/embeddings/embeddings-codec.ts'
import { EMBEDDINGS_CODECS } from '../wire/embeddings/embeddings-codecs.ts'
import { hasCarriers } from '../wire/seal-carrier.ts'
import { healthKey, type TargetOrder } from './order-targets.ts'
import type { Caller, Credentials, GateStore } from './ports.ts'
import { originOf } from './seal-origin.ts'

/** A provider with the address that this gateway reaches it at. */
export interface ReachableProvider extends Provider {
  readonly baseUrl: string
}

export interface Target extends RelayTarget {
  /** `provider/model`, as the gate names it. */
  readonly name: string
  readonly url: string
  readonly credential: Secret
  /** The header that carries the credential; undefined: `Authorization: Bearer`. */
  readonly keyHeader: string | undefined
  /** Set when the credential may be one that signs. */
  readonly signing: Signing | undefined
  /** The provider's own, sent with every request. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Set when the target speaks another dialect than the caller. */
  readonly codec: ClientCodec | undefined
  /** The same for requests for embeddings. */
  readonly embeddings: EmbeddingsCodec | undefined
  readonly traits: ModelTraits
  /** Who signs this target's reasoning, and can read it again: its provider under this credential. */
  readonly sealOrigin: string
  /** Names it in this node's memory of how targets do (target-health.ts). */
  readonly healthKey: string
}

export interface Plan {
  readonly gate: Gate
  /** Empty only where the gateway answers itself. */
  readonly targets: readonly Target[]
}

export interface PlanPorts {
  readonly gates: GateStore
  readonly credentials: Credentials
  readonly providers: ReadonlyMap<string, ReachableProvider>
  readonly order: TargetOrder
}

/** @throws GatewayError `gate_not_found`, or `invalid_request` when no target of the gate speaks the caller's dialect */
export function planTargets(
  ports: PlanPorts,
  caller: Caller,
  request: AcceptedRequest,
  dialect: Dialect,
): Plan {
  const gate = ports.gates.find(caller.accountId, request.gateId)
  if (gate === undefined) throw gateNotFound(request)
  const relays = dialect.serverCodec === undefined || !hasCarriers(request.body.bytes)
  const speaking = ports.order
    .of(gate)
    .map((target) => findEndpoint(ports, target, dialect, relays))
    .filter((found) => found !== undefined)
  if (speaking.length === 0) {
    if (dialect.answerLocally !== undefined) return { gate, targets: [] }
    throw wrongDialect(gate, dialect, request)
  }
  const targets = speaking
    .map((found) => toTarget(ports, caller, request, found))
    .filter((target) => target !== undefined)
  if (targets.length === 0) throw noCredential(speaking)
  return { gate, targets }
}

interface FoundEndpoint {
  readonly target: GateTarget
  readonly name: string
  readonly model: string
  readonly provider: ReachableProvider
  readonly endpoint: Endpoint
  readonly codec?: ClientCodec | undefined
  readonly embeddings?: EmbeddingsCodec
}

/** @param relays false when the request holds what an upstream of its own dialect would not understand */
function findEndpoint(
  ports: PlanPorts,
  target: GateTarget,
  dialect: Dialect,
  relays: boolean,
): FoundEndpoint | undefined {
  const slash = target.model.indexOf('/')
  const provider = ports.providers.get(target.model.slice(0, slash))
  const model = target.model.slice(slash + 1)
  if (provider === undefined) return undefined
  const spoken = isRelayed(dialect) ? provider.endpoints[dialect.id] : undefined
  const codec = relays || !isRelayed(dialect) ? undefined : CLIENT_CODECS[dialect.id]
  const found = spoken === undefined ? findTranslated(provider, model, dialect) : { endpoint: spoken, codec }
  if (found === undefined) return undefined
  return { target, name: target.model, model, provider, ...found }
}

/** The caller's own dialect is relayed byte for byte wherever the provider speaks it; only else is anything translated. */
function findTranslated(provider: ReachableProvider, model: string, dialect: Dialect) {
  for (const [id, endpoint] of Object.entries(provider.endpoints)) {
    const embeddings = dialect.isEmbeddings === true ? EMBEDDINGS_CODECS[id as DialectId] : undefined
    if (embeddings !== undefined) return { endpoint, embeddings }
    const codec = dialect.serverCodec === undefined ? undefined : CLIENT_CODECS[id as DialectId]
    if (codec !== undefined && (endpoint.translatedModels?.test(model) ?? true)) return { endpoint, codec }
  }
  return undefined
}

/** Whether a target's answers are in another dialect than its caller's. */
export function isTranslated(target: Target): boolean {
  return target.codec !== undefined || target.embeddings !== undefined
}

/** @returns undefined when nobody has configured a credential for the target's provider */
function toTarget(
  ports: PlanPorts,
  caller: Caller,
  request: AcceptedRequest,
  found: FoundEndpoint,
): Target | undefined {
  const { provider, endpoint, model, name } = found
  const credential = ports.credentials.find(caller.accountId, provider.id)
  if (credential === undefined) return undefined
  return {
    name,
    model,
    url: provider.baseUrl + pathOf(endpoint, model, request.stream),
    credential,
    keyHeader: provider.keyHeader,
    signing: provider.signing,
    headers: provider.headers,
    codec: found.codec,
    embeddings: found.embeddings,
    traits: found.codec === undefined ? NO_TRAITS : traitsOf(provider, model),
    sealOrigin: found.codec === undefined ? '' : originOf(provider.id, credential),
    healthKey: healthKey(caller, found.target),
    isReasoningModel: provider.reasoningModels?.test(model) ?? false,
    countsStreamsOnRequest: endpoint.countsStreamsOnRequest ?? false,
  }
}

function pathOf({ path, streamPath }: Endpoint, model: string, stream: boolean): string {
  const chosen = stream ? (streamPath ?? path) : path
  return chosen.includes('{model}') ? chosen.replace('{model}', encodeURIComponent(model)) : chosen
}

const NO_TRAITS: ModelTraits = {}

function traitsOf(provider: Provider, model: string): ModelTraits {
  return provider.traits?.find(([pattern]) => pattern.test(model))?.[1] ?? NO_TRAITS
}

function noCredential(targets: readonly FoundEndpoint[]): GatewayError {
  const names = [...new Set(targets.map((target) => target.provider.name))].join(' or ')
  return new GatewayError(
    'provider_auth_failed',
    `No credential is configured for ${names}: the operator has to set its key.`,
  )
}

function gateNotFound(request: AcceptedRequest): GatewayError {
  return new GatewayError(
    'gate_not_found',
    `There is no gate '${shorten(request.gateId)}' in this account. List the gates with GET /v1/models.`,
    { param: gateMember(request) },
  )
}

/** Where the caller named the gate. */
function gateMember({ body }: AcceptedRequest): string {
  return ['gate_id', 'gateId'].find((name) => body.get(name) !== undefined) ?? 'model'
}

function wrongDialect(gate: Gate, dialect: Dialect, request: AcceptedRequest): GatewayError {
  const targets = gate.targets.map((target) => target.model).join(', ')
  const elsewhere =
    dialect.id === 'openai-responses' ? ' Cross-provider routing is done through /v1/chat/completions.' : ''
  return invalidRequest(
    `The gate '${gate.id}' resolves to ${targets}, which does not speak the format of this endpoint (${dialect.id}).${elsewhere}`,
    gateMember(request),
    'provider_mismatch',
  )
}

/** A caller may put anything where a gate id belongs; an answer repeats no more of it than helps. */
function shorten(text: string): string {
  return text.length <= 64 ? text : `${text.slice(0, 64)}…`
}

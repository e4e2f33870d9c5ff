/**
 * Makes of a gate's target what all calls to it share, once for each dialect of callers and each
 * credential (docs/decisions/0047). No I/O; it must not know for which calls.
 */

import { createHash } from 'node:crypto'
import type { GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import type { DeclaredPrices } from '../../core/owned-model.ts'
import type { Secret } from '../../core/secret.ts'
import { CommonHeaders } from '../../net/headers.ts'
import type { Endpoint, Provider, Signing } from '../../providers/define.ts'
import type { ModelTraits } from '../../wire/codec.ts'
import {
  type Dialect,
  isRelayed,
  type RelayedDialect,
  type RelayTarget,
} from '../../wire/dialect.ts'
import type { Translator } from '../../wire/dialects.ts'
import type { CallHeaders, PassedHeaders } from '../attempt/call-headers.ts'
import type { Caller, Credential, OwnedUpstream, TargetCredential } from '../ports.ts'
import { healthKey } from './order-targets.ts'

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
  /** The owner of the credential. */
  readonly owner: Credential['owner']
  /** The caller's account shares the credential with others, and is not the operator's own. */
  readonly isShared: boolean
  /** Set when the credential may be one that signs. */
  readonly signing: Signing | undefined
  /** The headers that pass between the caller and the target, where nothing is translated. */
  readonly passed: PassedHeaders
  /**
   * The headers of every request to it: its credential, and the provider's own. Made anew with the
   * target when either changes.
   */
  readonly common: CommonHeaders
  /** Its answers are in another dialect than its caller's. */
  readonly isTranslated: boolean
  /** The caller's dialect, where calls in it can pass byte for byte. */
  readonly relayed: RelayedDialect | undefined
  /** Set when requests to the target are written anew, as a rule in another dialect. */
  readonly translator: Translator | undefined
  /** The type of its streams. Undefined: `text/event-stream`. */
  readonly streamContentType: string | undefined
  readonly traits: ModelTraits
  /** Members of the request by which it keeps or runs something itself; undefined: it has none. */
  readonly hosts: readonly string[] | undefined
  /** Members of the request that only the owner of the credential may send; undefined: none. */
  readonly ownerMembers: readonly string[] | undefined
  /** Members of the request that name models, or leave their choice to the vendor; undefined: none. */
  readonly modelMembers: readonly string[] | undefined
  /** Likewise, beginnings of the types of tools. */
  readonly ownerTools: readonly string[] | undefined
  /** Likewise, of addresses of media: their hosts. */
  readonly ownerHosts: RegExp | undefined
  /** Of an owned model, as they are declared at the moment. */
  readonly ownedPrices: DeclaredPrices | undefined
  /** Its address is a customer's: where it leads is checked for each call. */
  readonly isGuarded: boolean
  /**
   * The signer of this target's reasoning, who can read it again: its provider under this
   * credential.
   */
  readonly sealOrigin: string
  /** Names it in this node's memory of how targets do (circuit-breakers.ts). */
  readonly healthKey: string
}

export interface CompilePorts {
  readonly callHeaders: CallHeaders
  /**
   * The operator's own account: the platform's accounts at vendors are its own too. Undefined: each
   * account is a customer's.
   */
  readonly operatorAccount?: AccountId | undefined
}

/** The parts of a call that decide how a target of its gate is asked. */
export interface Question {
  readonly caller: Caller
  readonly dialect: Dialect
  /** False when the request holds what an upstream of its own dialect would not understand. */
  readonly relays: boolean
  readonly stream: boolean
}

export interface FoundEndpoint {
  readonly target: GateTarget
  readonly name: string
  readonly model: string
  readonly provider: ReachableProvider
  readonly endpoint: Endpoint
  readonly owned?: OwnedUpstream | undefined
  readonly translator?: Translator | undefined
}

export function toTarget(
  { callHeaders, operatorAccount }: CompilePorts,
  { caller, dialect, stream }: Question,
  found: FoundEndpoint,
  credential: TargetCredential,
): Target {
  const { provider, endpoint, model, name, owned, translator } = found
  return {
    name,
    model,
    url: provider.baseUrl + pathOf(endpoint, model, stream),
    providerId: provider.id,
    credential: credential.secret,
    owner: credential.owner,
    isShared: credential.owner === 'platform' && caller.accountId !== operatorAccount,
    signing: provider.signing,
    passed: callHeaders.listsFor(dialect.id, credential.owner),
    common: toCommonHeaders(provider, credential.secret),
    isTranslated: translator !== undefined,
    relayed: isRelayed(dialect) ? dialect : undefined,
    translator,
    streamContentType:
      translator?.form === 'chat' ? translator.upstream.streamContentType : undefined,
    traits: traitsOf(provider, model),
    takesEffort: takesEffort(found),
    ownedPrices: owned?.prices,
    isGuarded: owned !== undefined,
    sealOrigin: originOf(provider.id, credential.secret),
    healthKey: healthKey(caller, found.target),
    isReasoningModel: provider.reasoningModels?.test(model) ?? false,
    countsStreamsOnRequest: endpoint.countsStreamsOnRequest ?? false,
    insteadOfModel: endpoint.insteadOfModel,
    checksSignatures: endpoint.checksSignatures,
    features: endpoint.features?.models.test(model) === true ? endpoint.features : undefined,
    hosts: translator === undefined ? endpoint.hosts : undefined,
    ownerMembers: takesMembers(dialect, translator) ? endpoint.ownerMembers : undefined,
    modelMembers: takesMembers(dialect, translator) ? endpoint.modelMembers : undefined,
    ownerTools: translator === undefined ? endpoint.ownerTools : undefined,
    ownerHosts: endpoint.ownerHosts,
  }
}

/** A request that is written anew in its own dialect keeps the members that nobody here knows. */
function takesMembers({ id }: Dialect, translator: Translator | undefined): boolean {
  return translator === undefined || translator.dialect === id
}

/** A client's own word counts for its dialect's version, and for nothing else here. */
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
      // The gateway reads the answer on its way through, so the upstream must not compress it.
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
  const isToldOf = traits?.some(([, { reasoning }]) => reasoning !== undefined) === true
  return !isToldOf && reasoningModels === undefined
}

// The origin of a seal names who sealed a piece of reasoning: a provider under one credential.

/** Enough to tell the credentials of one provider apart, and nothing to find one by. */
const FINGERPRINT_LENGTH = 8

/** No hexadecimal number, as every other is. */
const WITHOUT = 'none'

const fingerprints = new WeakMap<Secret, string>()

/** @param credential undefined: none is sent */
export function originOf(providerId: string, credential: Secret | undefined): string {
  if (credential === undefined) return `${providerId}#${WITHOUT}`
  let fingerprint = fingerprints.get(credential)
  if (fingerprint === undefined) {
    fingerprint = createHash('sha256')
      .update(credential.reveal())
      .digest('hex')
      .slice(0, FINGERPRINT_LENGTH)
    fingerprints.set(credential, fingerprint)
  }
  return `${providerId}#${fingerprint}`
}

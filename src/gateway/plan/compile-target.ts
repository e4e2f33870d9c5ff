/**
 * Computes what all calls to a gate's target share, once per caller dialect and credential
 * (docs/decisions/0047).
 */

import { createHash } from 'node:crypto'
import type { GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import { type ModelOverlay, NO_OVERLAY } from '../../core/model-overlay.ts'
import type { DeclaredPrices } from '../../core/owned-model.ts'
import type { RequestRules } from '../../core/request-rules.ts'
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
import { rulesOf } from '../../wire/fit/request-rules.ts'
import type { CallHeaders, PassedHeaders } from '../attempt/call-headers.ts'
import { layersOf } from '../models/rules-of-target.ts'
import type { Caller, Credential, OwnedUpstream, TargetCredential } from '../ports.ts'
import { healthKey } from './order-targets.ts'

export interface ReachableProvider extends Provider {
  readonly baseUrl: string
}

export interface Target extends RelayTarget {
  readonly name: string
  readonly url: string
  readonly providerId: string
  /** Undefined when the server needs no credential. */
  readonly credential: Secret | undefined
  readonly owner: Credential['owner']
  /**
   * True when the provider's account is not the caller's own: accounts share the credential, or the
   * caller has only an access token.
   */
  readonly isShared: boolean
  readonly isByToken: boolean
  readonly staysWithinGate: boolean
  readonly signing: Signing | undefined
  /** Headers that are forwarded when nothing is translated. */
  readonly passed: PassedHeaders
  /** Headers of every request to the target: the credential's and the provider's own. */
  readonly common: CommonHeaders
  readonly isTranslated: boolean
  /** The caller's dialect, when calls can be relayed byte for byte. */
  readonly relayed: RelayedDialect | undefined
  readonly translator: Translator | undefined
  /** Content type of the target's streams. Undefined: `text/event-stream`. */
  readonly streamContentType: string | undefined
  readonly traits: ModelTraits
  /** Rules for translated requests, and for relayed requests of gates that adapt them. */
  readonly rules: RequestRules
  /**
   * Members of the request that make the provider store or run something. Undefined: no members.
   */
  readonly hosts: readonly string[] | undefined
  /** Members, tool types (by prefix) and media hosts that only the credential's owner may use. */
  readonly ownerMembers: readonly string[] | undefined
  readonly modelMembers: readonly string[] | undefined
  readonly ownerTools: readonly string[] | undefined
  readonly ownerHosts: RegExp | undefined
  readonly ownedPrices: DeclaredPrices | undefined
  /** The address is a customer's, so every call checks it. */
  readonly isGuarded: boolean
  /** Identifies who can read this target's sealed reasoning: its provider under this credential. */
  readonly sealOrigin: string
  readonly healthKey: string
}

export interface CompilePorts {
  readonly callHeaders: CallHeaders
  readonly providers: ReadonlyMap<string, ReachableProvider>
  /** The account that owns the platform's accounts at providers. Undefined: no account does. */
  readonly operatorAccount?: AccountId | undefined
  /** The operator's entries for models, which a reload replaces. Undefined: none. */
  readonly overlay?: (() => ModelOverlay) | undefined
}

export interface Question {
  readonly caller: Caller
  readonly dialect: Dialect
  /** False when an upstream of the caller's dialect would not understand parts of the request. */
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
  { callHeaders, operatorAccount, providers, overlay }: CompilePorts,
  { caller, dialect, stream }: Question,
  found: FoundEndpoint,
  credential: TargetCredential,
): Target {
  const { provider, endpoint, model, name, owned, translator } = found
  const layers = layersOf(name, providers, overlay?.() ?? NO_OVERLAY)
  return {
    name,
    model,
    url: provider.baseUrl + pathOf(endpoint, model, stream),
    providerId: provider.id,
    credential: credential.secret,
    owner: credential.owner,
    isShared:
      caller.token !== undefined ||
      (credential.owner === 'platform' && caller.accountId !== operatorAccount),
    isByToken: caller.token !== undefined,
    staysWithinGate: credential.owner === 'platform' || caller.token?.overrides === false,
    signing: provider.signing,
    passed: callHeaders.listsFor(dialect.id, credential.owner),
    common: toCommonHeaders(provider, credential.secret),
    isTranslated: translator !== undefined,
    relayed: isRelayed(dialect) ? dialect : undefined,
    translator,
    streamContentType:
      translator?.form === 'chat' ? translator.upstream.streamContentType : undefined,
    traits: traitsOf(provider, model),
    rules: rulesOf([...layers.slice(0, -1), { ...layers.at(-1), rows: provider.rules, model }]),
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

/** A request that is rewritten within its own dialect keeps unknown members. */
function takesMembers({ id }: Dialect, translator: Translator | undefined): boolean {
  return translator === undefined || translator.dialect === id
}

/** A client may choose its dialect's version, but no other fixed header. */
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
      // The gateway reads the answer while relaying it, so the answer must not be compressed.
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

function takesEffort({ provider, model, owned }: FoundEndpoint): boolean {
  const { traits, reasoningModels } = provider
  if (reasoningModels?.test(model) === true || traitsOf(provider, model).reasoning !== undefined)
    return true
  if (owned !== undefined) return traits?.some(([pattern]) => pattern.test(model)) !== true
  const listsReasoning = traits?.some(([, { reasoning }]) => reasoning !== undefined) === true
  return !listsReasoning && reasoningModels === undefined
}

// The origin of a seal names a provider under one credential, so another target knows whether it
// can read the reasoning.

/** Enough to distinguish the credentials of one provider, but not to find a credential. */
const FINGERPRINT_LENGTH = 8

/** Not hexadecimal, so no fingerprint equals this word. */
const WITHOUT = 'none'

const fingerprints = new WeakMap<Secret, string>()

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

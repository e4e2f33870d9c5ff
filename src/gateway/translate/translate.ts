/** Translates a request for a target with another dialect, and the answer back. */
import { invalidRequest } from '../../core/errors.ts'
import type { GateDefaults } from '../../core/gate.ts'
import type { Usage } from '../../core/usage.ts'
import type { HeaderFields } from '../../net/fields.ts'
import { type BridgedFeatures, bridgeFeatures } from '../../wire/bridge-features.ts'
import { withFittingReasons } from '../../wire/chat-answer.ts'
import type { ChatRequest, JsonRecord } from '../../wire/chat-request.ts'
import {
  ADAPTED_FEATURES,
  type AnswerFacts,
  type DecodeLimits,
  type Feature,
  type InboundCodec,
  UnreadableAnswerError,
  type UpstreamCodec,
} from '../../wire/codec.ts'
import type { AcceptedRequest, StreamTap } from '../../wire/dialect.ts'
import { fit } from '../../wire/fit/fit.ts'
import { restoreAnswer, restoreEvents } from '../../wire/fit/restore-answers.ts'
import { isDefaulted, withDefaults } from '../../wire/gate-defaults.ts'
import { isRecord } from '../../wire/read-json.ts'
import { TranslatingTap } from '../../wire/translating-tap.ts'
import { lostOf, NameList, showNames } from '../../wire/unread.ts'
import { unusableAnswer } from '../attempt/failures.ts'
import type { Target } from '../plan/compile-target.ts'
import { refuseOwnersAddresses } from '../shared-credential.ts'

interface CallerRequestOptions {
  readonly maxBodyBytes: number
  readonly headers: Pick<HeaderFields, 'get'>
}

/** One caller's request, decoded at most once for all targets. */
export class CallerRequest {
  readonly codec: InboundCodec
  readonly #accepted: AcceptedRequest
  readonly #limits: DecodeLimits
  #decoded: ChatRequest | undefined
  /** The features that a header asks for, by name; no translation supports them. */
  readonly features: readonly string[]

  constructor(
    codec: InboundCodec,
    accepted: AcceptedRequest,
    { maxBodyBytes, headers }: CallerRequestOptions,
  ) {
    this.codec = codec
    this.features = readFeatureHeader(codec, headers)
    this.#accepted = accepted
    this.#limits = { maxTextBytes: maxBodyBytes }
  }

  get decoded(): ChatRequest {
    this.#decoded ??= this.#decode()
    return this.#decoded
  }

  get defaults(): GateDefaults | undefined {
    return this.#accepted.defaults
  }

  #decode(): ChatRequest {
    const { body, defaults } = this.#accepted
    const request = this.codec.decodeRequest(JSON.parse(decoder.decode(body.bytes)), this.#limits)
    return defaults === undefined ? request : withDefaults(request, defaults)
  }
}

const decoder = new TextDecoder()

function readFeatureHeader(
  { featureHeader }: InboundCodec,
  headers: CallerRequestOptions['headers'],
): readonly string[] {
  const names = new NameList()
  const values = featureHeader === undefined ? null : headers.get(featureHeader)
  for (const value of values?.split(',') ?? [])
    if (value.trim() !== '') names.add(`${featureHeader}.${value.trim()}`)
  return names.toArray()
}

export interface TranslatedRequest {
  readonly body: Uint8Array
  /** Members without effect at this target, in the caller's spelling. */
  readonly ignored: readonly string[]
  readonly adapted?: readonly string[] | undefined
  createTap(): StreamTap
  /**
   * Converts a complete answer to the caller's dialect.
   * @throws GatewayError `upstream_error` when the JSON is not an answer
   */
  convert(answer: JsonRecord): ConvertedAnswer
}

export interface ConvertedAnswer {
  readonly json: JsonRecord
  /** The usage that the upstream reported; some callers' dialects cannot express all of it. */
  readonly usage: Usage | null
  /** The model that answered, by its name at the upstream. Undefined: not reported. */
  readonly model?: string | undefined
  readonly ignored?: readonly string[]
}

export interface TranslationInput {
  readonly caller: CallerRequest
  readonly target: Target
  readonly client: UpstreamCodec
  readonly facts: Pick<AnswerFacts, 'callId' | 'gateId' | 'startedAtMs' | 'outcome' | 'priceOf'>
  /** Set by `x-gatehouse-strict`: no member may be ignored. */
  readonly isStrict: boolean
  readonly refusesStreamOptions?: boolean | undefined
}

export function translate({
  caller,
  target,
  client,
  facts,
  isStrict,
  refusesStreamOptions,
}: TranslationInput): TranslatedRequest {
  const request = caller.decoded
  refuseOwnersAddresses(request, target)
  const bridged = bridgeCallers(caller, client, target)
  const fitted = fit(request, target.rules)
  const { restore } = fitted
  const encoded = client.encodeRequest(fitted.request, {
    model: target.model,
    traits: target.traits,
    sealOrigin: target.sealOrigin,
    refusesStreamOptions,
    requestedFeatures: bridged.taken.length === 0 ? undefined : bridged.taken,
  })
  const isAdapted = (feature: Feature) => ADAPTED_FEATURES.has(feature)
  const lost = [...fitted.ignored, ...encoded.ignored.filter((feature) => !isAdapted(feature))]
  const adapted = [...fitted.adapted, ...encoded.ignored.filter(isAdapted)]
  const ignored = nameIgnored(caller, client, [lost, bridged.lost])
  if (isStrict) {
    // A strict caller is responsible for its own request, not for its gate's defaults.
    const requested = lost.filter(
      (feature) =>
        !isDefaulted(feature, caller.defaults, target.traits) &&
        !isNeutral(feature, request[feature as keyof ChatRequest]),
    )
    refuseIgnored(target, nameIgnored(caller, client, [requested, bridged.lost]))
  }
  const showsImages = caller.codec.showsImages === true
  const answerFacts: AnswerFacts = { ...facts, target: target.name, sealOrigin: target.sealOrigin }
  return {
    body: Buffer.from(JSON.stringify(withModelInPath(encoded.body, target))),
    ignored,
    adapted: [...nameAdapted(caller, adapted), ...bridged.renamed],
    createTap: () =>
      new TranslatingTap(
        restore === undefined
          ? client.createEventDecoder()
          : restoreEvents(client.createEventDecoder(), restore),
        caller.codec.createEventEncoder(request, answerFacts),
        showsImages,
      ),
    convert(answer) {
      try {
        const upstreams = withFittingReasons(client.decodeAnswer(answer))
        const decoded = restore === undefined ? upstreams : restoreAnswer(upstreams, restore)
        const { usage, model } = decoded
        const ignored = lostOf(decoded, showsImages)
        return { json: caller.codec.encodeAnswer(decoded, answerFacts), usage, model, ignored }
      } catch (thrown) {
        if (thrown instanceof UnreadableAnswerError)
          throw unusableAnswer(target.name, thrown.message)
        throw thrown
      }
    },
  }
}

/** @throws GatewayError `invalid_request` naming the first member that would be ignored */
export function refuseIgnored(target: Target, ignored: readonly string[]): void {
  if (ignored.length === 0) return
  const names = showNames(ignored, { maxLength: 1024, toText: (name) => name.toWellFormed() })
  throw invalidRequest(
    `The target ${target.name} cannot take ${names}, and x-gatehouse-strict forbids omitting members.`,
    ignored[0]?.slice(0, 96),
    'unsupported_parameter',
  )
}

function withModelInPath(body: JsonRecord, { insteadOfModel }: Target): JsonRecord {
  if (insteadOfModel === undefined) return body
  const { model: _, ...rest } = body
  return { ...rest, ...insteadOfModel }
}

/** Members that change the answer's form; the caller's codec handles these members. */
const OBEYED = new Set(['stream_options'])

function nameIgnored(
  caller: CallerRequest,
  client: UpstreamCodec,
  [features, lostFeatures]: readonly [features: readonly Feature[], asked: readonly string[]],
): string[] {
  const request = caller.decoded
  const taken = client.takes?.[request.family]
  const isKnown = (name: string) =>
    OBEYED.has(name) || client.family === request.family || taken?.includes(name) === true
  const unknown = Object.entries(request.extra).flatMap(([name, value]) =>
    isKnown(name) || isNeutral(name, value) ? [] : [name],
  )
  const named = features.map((feature) => caller.codec.nameFeature(feature))
  return [...new Set([...request.ignored, ...unknown, ...named, ...lostFeatures])]
}

const NO_FEATURES: BridgedFeatures = { taken: [], lost: [], renamed: [] }

function bridgeCallers(
  { codec: { featureHeader = '' }, features, decoded }: CallerRequest,
  client: UpstreamCodec,
  target: Target,
): BridgedFeatures {
  if (features.length === 0 || client.family === decoded.family) return NO_FEATURES
  if (target.features === undefined) return { ...NO_FEATURES, lost: features }
  const requested = features.map((name) => name.slice(featureHeader.length + 1)).join()
  return nameFeatures(featureHeader, bridgeFeatures(requested, target.features))
}

export function nameFeatures(header: string, bridged: BridgedFeatures): BridgedFeatures {
  const toName = (feature: string) => `${header}.${feature}`
  const { taken, lost, renamed } = bridged
  return { taken, lost: lost.map(toName), renamed: renamed.map(toName) }
}

function nameAdapted(caller: CallerRequest, features: readonly Feature[]): string[] {
  const named = features.map((feature) => caller.codec.nameFeature(feature))
  return [...new Set([...(caller.decoded.adapted ?? []), ...named])]
}

/** Values that ask for the default behaviour of every target, by member or setting. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  store: [false],
  speed: ['standard'],
  serviceTier: ['auto', 'default', 'standard', 'standard_only'],
  presencePenalty: [0],
  frequencyPenalty: [0],
  logprobs: [false],
  parallelToolCalls: [true],
}
const EMPTY_OBJECTS = new Set(['metadata', 'logit_bias'])

/** A setting or unknown member that has no effect anywhere. */
function isNeutral(name: string, value: unknown): boolean {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return true
  if (EMPTY_OBJECTS.has(name)) return isRecord(value) && Object.keys(value).length === 0
  return Object.hasOwn(NEUTRAL, name) && NEUTRAL[name]?.includes(value) === true
}

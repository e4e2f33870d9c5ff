/** How a dialect is translated: an inbound codec for clients, an upstream codec for upstreams. */
import type { Cost } from '../core/cost.ts'
import type { GatewayError } from '../core/errors.ts'
import type { Usage } from '../core/usage.ts'
import type { ChatAnswer, ChatEvent } from './chat-answer.ts'
import type { ChatRequest, ChatSettings, JsonRecord } from './chat-request.ts'

/** A stateful, synchronous step of a stream. `end` is called once, after the last `push`. */
export interface Step<In, Out> {
  push(input: In): readonly Out[]
  end(): readonly Out[]
}

export interface AnswerFacts {
  /** The call's own id (`call_…`), used when the upstream sent no id. */
  readonly callId: string
  readonly target: string
  /** The caller's text in place of the model name. */
  readonly gateId: string
  readonly startedAtMs: number
  /** Origin that the carriers of the answer's seals record (see `Seal` in chat-request.ts). */
  readonly sealOrigin: string
  /** Read once, at the end of the answer, by dialects that report the outcome. */
  readonly outcome?: () => AnswerOutcome
  /**
   * Called once, at the end of the answer, by dialects that report the cost. Undefined: unknown.
   */
  readonly priceOf?: (usage: Usage, answeredBy: string | undefined) => Cost | undefined
}

export interface AnswerOutcome {
  /** Milliseconds since the request arrived. */
  readonly latencyMs: number
  readonly attempts: readonly {
    readonly target: string
    readonly status: number | null
    readonly ms: number
  }[]
}

/**
 * Variables can enlarge a request beyond the limit of its body, so the decoded size has a limit
 * too.
 */
export interface DecodeLimits {
  readonly maxTextBytes: number
}

export const DECODE_LIMITS: DecodeLimits = { maxTextBytes: 64 * 1024 * 1024 }

export interface InboundCodec {
  /** The header whose comma-separated values ask for features. */
  readonly featureHeader?: string
  /** True when answers can contain images. Otherwise images are lost, and reported. */
  readonly showsImages?: true
  /**
   * @throws GatewayError `invalid_request` naming the field as the caller wrote it
   * (`messages[1].content`)
   */
  decodeRequest(body: JsonRecord, limits?: DecodeLimits): ChatRequest
  encodeAnswer(answer: ChatAnswer, facts: AnswerFacts): JsonRecord
  createEventEncoder(request: ChatRequest, facts: AnswerFacts): EventEncoder
  /**
   * The caller's spelling of a feature that a target does not support: `reasoning.effort` →
   * `reasoning_effort`.
   */
  nameFeature(feature: Feature): string
}

/** Takes events, returns text of server-sent events. Text from `push` never ends the answer. */
export interface EventEncoder {
  push(event: ChatEvent): string
  /**
   * The upstream's answer is complete: returns the events that end the answer, which wait for the
   * ledger.
   */
  end(): string
  /** The events that report a broken stream in the client's own dialect. */
  encodeFailure(error: GatewayError): string
}

export interface ModelTraits {
  /**
   * `effort`: a word; `budget`: a number of tokens; `adaptive`: the model decides itself, with an
   * effort word; `level`: Gemini 3's word. Undefined: the model cannot think.
   */
  readonly reasoning?: 'effort' | 'budget' | 'adaptive' | 'level'
  /** True when thinking cannot be turned off. */
  readonly alwaysReasons?: boolean
  /** Members of the request that turn off thinking, if the model needs them. */
  readonly withoutThinking?: JsonRecord
  /** The lowest word for a `level`. Undefined: `LOW`, which every model with levels accepts. */
  readonly lowestLevel?: string
  readonly refusesSampling?: boolean
  readonly takesOneSampling?: boolean
  /** Written when the dialect requires a limit and the caller set none. */
  readonly defaultMaxOutputTokens?: number
  /** False: no tool support. Undefined: unknown. */
  readonly tools?: boolean
  /** Accepts only tool-call ids of nine letters and digits. */
  readonly shortToolIds?: boolean
  /** Top-level members that this provider's copy of the dialect refuses. */
  readonly refuses?: readonly string[]
  /** Accepts only OpenAI's newer name of the output limit, `max_completion_tokens`. */
  readonly maxCompletionTokens?: boolean
  /**
   * The form of fill-in-the-middle prompts. Undefined: the server knows the form, or the model
   * cannot fill in the middle.
   */
  readonly fimTemplate?: FimTemplate
}

export interface FimTemplate {
  readonly order: 'prefix-first' | 'suffix-first'
  /** The token before each part, with its white space. */
  readonly prefix: string
  readonly suffix: string
  /** The token before the model's output; empty when the last part ends the prompt. */
  readonly middle: string
  /** Tokens that the model writes at the end of its text, besides the tokens of the prompt. */
  readonly stop: readonly string[]
}

export interface EncodeTarget {
  /** Features that the caller asked for by a header, in the target's names. */
  readonly requestedFeatures?: readonly string[] | undefined
  readonly refusesStreamOptions?: boolean | undefined
  readonly model: string
  readonly traits: ModelTraits
  /** Only seals of this origin are sent; others are omitted and reported. */
  readonly sealOrigin: string
}

export interface EncodedRequest {
  readonly body: JsonRecord
  /** Parts of the request that this target does not support, or takes in another form. */
  readonly ignored: readonly Feature[]
}

/**
 * A setting or part of the request that a target does not support. Unknown top-level members are
 * reported by the gateway itself.
 */
export type Feature =
  | keyof ChatSettings
  | 'reasoning.effort'
  | 'reasoning.budgetTokens'
  | 'reasoning.summary'
  | 'reasoning.display'
  | 'reasoningParts'
  | 'seals'
  | 'image.detail'
  | 'image.url'
  | 'images'
  | 'files'
  | 'audio'
  | 'toolResult.images'
  | 'toolResult.isError'
  | 'tool.name'
  | 'tool.schema'
  | 'tool.strict'
  | 'responseFormat.strict'
  | 'message.name'
  | 'message.order'
  | 'message.text'
  | 'cache'

/**
 * Encoders report these features although nothing was lost, because the request was changed to an
 * equivalent request. Allowed for strict callers.
 */
export const ADAPTED_FEATURES: ReadonlySet<Feature> = new Set<Feature>([
  // When a named tool is required, only that tool is offered.
  'tools',
])

export interface UpstreamCodec {
  readonly form: 'chat'
  /** The family whose unknown members the codec forwards (`ChatRequest.extra`). */
  readonly family?: ChatRequest['family']
  /** Unknown members that the codec forwards from callers of another family. */
  readonly takes?: Partial<Record<ChatRequest['family'], readonly string[]>>
  /** @throws GatewayError `invalid_request` when the target cannot express the request at all */
  encodeRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest
  /**
   * @throws UnreadableAnswerError when the body is not an answer in this dialect, or reports a
   * failure
   */
  decodeAnswer(body: JsonRecord): ChatAnswer
  /** Takes bytes, because each dialect has its own stream framing. */
  createEventDecoder(): StreamDecoder
  /** The content type of streams; undefined: `text/event-stream`. */
  readonly streamContentType?: string
}

export interface StreamDecoder extends Step<Uint8Array, ChatEvent> {
  /** Usage that the upstream reported before its usage event, a new object for each report. */
  readonly usageSoFar?: Usage | null
  /**
   * Called after `end`: true when the upstream reported its answer as complete. Otherwise the
   * stream was cut off.
   */
  isComplete(): boolean
}

/**
 * The upstream sent no usable answer. The caller sees the message, so it contains no part of a
 * prompt or answer.
 */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError'
}

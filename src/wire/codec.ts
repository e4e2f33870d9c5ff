/**
 * How a dialect is translated: an inbound codec speaks it to our clients, an upstream codec to an
 * upstream. Both are pure and synchronous; the loop that moves bytes is elsewhere. It must not know
 * providers or HTTP servers.
 */
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

/** The facts that an answer to the caller states, beside the text of the upstream. */
export interface AnswerFacts {
  /** The call's own id (`call_…`), used where the upstream gave none. */
  readonly callId: string
  /** `provider/model`. */
  readonly target: string
  /** The caller's text in the place of the model name. */
  readonly gateId: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  /**
   * The origin of these seals, for the carriers that bring them back (see chat-request.ts, `Seal`).
   */
  readonly sealOrigin: string
  /**
   * How the call has gone until now, for dialects that tell it: asked once, at the end of the
   * answer.
   */
  readonly outcome?: () => AnswerOutcome
  /**
   * The cost of such an answer, for dialects that tell it: asked once, at its end. Absent: nobody
   * knows.
   */
  readonly priceOf?: (usage: Usage, answeredBy: string | undefined) => Cost | undefined
}

export interface AnswerOutcome {
  /** Since the request came. */
  readonly latencyMs: number
  /** Each time that an upstream was asked, in order. */
  readonly attempts: readonly {
    /** `provider/model`. */
    readonly target: string
    /** The HTTP status that it answered with; null when none came. */
    readonly status: number | null
    readonly ms: number
  }[]
}

/**
 * The size that a request may grow to while it is read: its own size is bounded, what it asks to be
 * filled in is not.
 */
export interface DecodeLimits {
  readonly maxTextBytes: number
}

/** The limit where the operator's own for bodies is not at hand. */
export const DECODE_LIMITS: DecodeLimits = { maxTextBytes: 64 * 1024 * 1024 }

/** Speaks a dialect to our clients. */
export interface InboundCodec {
  /** The header whose values, with commas between them, ask for features of the request. */
  readonly featureHeader?: string
  /** Its answers have a place for images; absent: images are lost, and named. */
  readonly showsImages?: true
  /**
   * @param body the parsed request
   * @throws GatewayError `invalid_request` naming the field as the caller wrote it
   * (`messages[1].content`)
   */
  decodeRequest(body: JsonRecord, limits?: DecodeLimits): ChatRequest
  encodeAnswer(answer: ChatAnswer, facts: AnswerFacts): JsonRecord
  createEventEncoder(request: ChatRequest, facts: AnswerFacts): EventEncoder
  /**
   * The caller's spelling of a feature that a target could not take: `reasoning.effort` →
   * `reasoning_effort`.
   */
  nameFeature(feature: Feature): string
}

/** Events in, text of server-sent events out. Nothing it writes before `end` ends the answer. */
export interface EventEncoder {
  push(event: ChatEvent): string
  /**
   * The upstream has said all, and well: the events that end the answer, which wait for the ledger.
   */
  end(): string
  /** The events that tell the client, in its own dialect, that the stream broke. */
  encodeFailure(error: GatewayError): string
}

/**
 * Facts of the model that a codec writes to. All of it comes from the provider's data.
 */
export interface ModelTraits {
  /**
   * How the model is asked to think. `effort`: by a word; `budget`: by a number of tokens;
   * `adaptive`: it decides itself, with a word for how much; `level`: Gemini 3's word; absent: it
   * cannot.
   */
  readonly reasoning?: 'effort' | 'budget' | 'adaptive' | 'level'
  /** The model thinks whether asked or not, and cannot be told to stop. */
  readonly alwaysReasons?: boolean
  /** Members of the request that turn off thinking, where the model needs to be told. */
  readonly withoutThinking?: JsonRecord
  /** The least word for a `level`; absent: `LOW`, which every model with levels takes. */
  readonly lowestLevel?: string
  /** Refuses `temperature`, `top_p` and `top_k`. */
  readonly refusesSampling?: boolean
  /** Takes `temperature` or `top_p`, and refuses the two together. */
  readonly takesOneSampling?: boolean
  /** Written where the dialect requires a limit and the caller gave none. */
  readonly defaultMaxOutputTokens?: number
  /** False: has no tools; absent: it may have. */
  readonly tools?: boolean
  /** The only tool-call ids it takes are nine letters and digits. */
  readonly shortToolIds?: boolean
  /** Top-level members that this vendor's copy of the dialect refuses. */
  readonly refuses?: readonly string[]
  /**
   * OpenAI's newer name of the output limit, `max_completion_tokens`, is the only one that works.
   */
  readonly maxCompletionTokens?: boolean
  /** How it wants to be asked to fill in the middle; absent: its server knows, or it cannot. */
  readonly fimTemplate?: FimTemplate
}

/** How a model that fills in the middle wants its prompt written. */
export interface FimTemplate {
  /** The part that comes first. */
  readonly order: 'prefix-first' | 'suffix-first'
  /** The token before each part, with the space that belongs to it. */
  readonly prefix: string
  readonly suffix: string
  /** Before what the model writes; empty where the last part ends the prompt. */
  readonly middle: string
  /** Tokens that the model writes when it is done, beside the three above. */
  readonly stop: readonly string[]
}

export interface EncodeTarget {
  /** Features that the caller asked for by a header, in the target's names. */
  readonly askedFeatures?: readonly string[] | undefined
  /** Its server refuses to be asked for the usage of a stream. */
  readonly refusesStreamOptions?: boolean | undefined
  /** The model's name at the upstream. */
  readonly model: string
  readonly traits: ModelTraits
  /** Only seals of this origin are sent; others are left out, and named. */
  readonly sealOrigin: string
}

export interface EncodedRequest {
  readonly body: JsonRecord
  /** The parts of the request that this target cannot take, or takes in another form. */
  readonly ignored: readonly Feature[]
}

/**
 * A setting of the request, or a part of it that a target could not take. Unknown top-level members
 * are named by the gateway itself.
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
  | 'tool.strict'
  | 'message.name'
  | 'message.order'
  | 'cache'

/**
 * Features that encoders name although nothing was lost: the request was changed into one that means
 * the same. Strict callers let them pass.
 */
export const ADAPTED_FEATURES: ReadonlySet<Feature> = new Set<Feature>([
  // A conversation that its assistant begins gets an opening turn.
  'message.order',
  // A tool that is demanded by name is the only one offered.
  'tools',
])

/** Speaks a dialect to an upstream. */
export interface UpstreamCodec {
  readonly form: 'chat'
  /** The family whose unknown members it takes over (`ChatRequest.extra`). */
  readonly family?: ChatRequest['family']
  /** Unknown members that it takes over from callers of another family. */
  readonly takes?: Partial<Record<ChatRequest['family'], readonly string[]>>
  /** @throws GatewayError `invalid_request` when the target cannot express what was asked at all */
  encodeRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest
  /**
   * @throws UnreadableAnswerError when it is not an answer in this dialect, or one that says that
   * it failed
   */
  decodeAnswer(body: JsonRecord): ChatAnswer
  /** Bytes in, events out: each dialect frames its stream its own way. */
  createEventDecoder(): StreamDecoder
  /** How a stream of this dialect is labelled; absent: `text/event-stream`. */
  readonly streamContentType?: string
}

export interface StreamDecoder extends Step<Uint8Array, ChatEvent> {
  /**
   * The usage that the upstream has reported before the event that tells it, another object for
   * each report; absent: not early.
   */
  readonly usageSoFar?: Usage | null
  /**
   * After `end`: whether the upstream said that its answer is complete. A stream without it was cut
   * off.
   */
  isComplete(): boolean
}

/**
 * The upstream sent no answer. The message is shown to the caller: no part of a prompt or of
 * an answer in it.
 */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError'
}

/**
 * The port of a wire format: all that it offers so that clients can speak it, and that calls in it
 * are relayed byte for byte to an upstream that speaks it too. It must not know providers, HTTP
 * servers or the source of bytes.
 */
import type { ToolUses } from '../core/cost.ts'
import type { InboundDialectId } from '../core/dialects.ts'
import type { EditedBytes } from '../core/edited-bytes.ts'
import type { GatewayError } from '../core/errors.ts'
import type { GateDefaults } from '../core/gate.ts'
import type { Usage } from '../core/usage.ts'
import type { PlatformFeatures } from './bridge-features.ts'
import type { JsonRecord } from './chat-request.ts'
import type { InboundCodec, ModelTraits } from './codec.ts'
import type { ReadSpoken } from './gate-defaults.ts'
import type { HeaderLists } from './header-lists.ts'
import type { JsonObject } from './json-splice.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'
import type { VendorIds } from './vendor-ids.ts'

/**
 * How errors look: `{error: {message, type, param, code}}` or `{error, message, details?}`
 * (interface-spec, Errors), or `{type: "error", error: {type, message}}` as clients of the Messages
 * interface read it. `alt` is the flat one with what Mistral's clients parse beside it.
 */
export type Envelope = 'nested' | 'flat' | 'alt' | 'messages'

/**
 * The gateway has to know this of a request before it picks a target. The body itself stays bytes.
 */
export interface AcceptedRequest {
  readonly body: JsonObject
  readonly gateId: string
  readonly stream: boolean
  /** Members of the body that have no effect, for `x-gatehouse-ignored`. */
  readonly ignored: readonly string[]
  /** The gate's own decisions, which the body does not say: absent where a gate has no defaults. */
  readonly defaults?: GateDefaults
}

/** The facts about a target that decide how a request to it is edited. */
export interface RelayTarget {
  /** The model's name at the upstream. */
  readonly model: string
  readonly isReasoningModel: boolean
  /** The upstream counts a stream only when asked (`stream_options.include_usage`). */
  readonly countsStreamsOnRequest: boolean
  /** Set when the path names the model: the body does not, and says this instead. */
  readonly insteadOfModel?: Readonly<Record<string, string>> | undefined
  readonly traits: ModelTraits
  /** The model can be asked how much to think, as far as the provider's data tells. */
  readonly takesEffort: boolean
  /**
   * The origin of the seals that it can read (wire/chat-request.ts, `Seal`). Absent: its dialect's
   * own only.
   */
  readonly sealOrigin?: string
  /** Refuses a conversation with thinking in it that it has not signed itself. */
  readonly checksSignatures?: boolean | undefined
  /** Absent: it takes what its dialect has. */
  readonly features?: PlatformFeatures | undefined
}

export interface RelayRequest {
  readonly body: EditedBytes
  /**
   * Set when the body asks for usage that the client did not ask for: the answer must be shown
   * without it.
   */
  readonly hidesUsage: boolean
  /** The gate's defaults that this model cannot take, in the caller's spelling. */
  readonly ignored?: readonly string[] | undefined
  /** The caller's members that this target cannot take: a strict caller is refused for them. */
  readonly leftOut?: readonly string[] | undefined
}

/**
 * The result of a chunk from the upstream. Both are exact bytes for the client, one character each,
 * `held` after `now`: text is cheaper to read, to cut and to put together.
 */
export interface TapOutput {
  readonly now: string
  /** The event that ends the answer, and what follows it: waits until the ledger has the call. */
  readonly held: string
}

/**
 * `open`: more has to come. `complete`: the answer's last event was seen. `failed`: the upstream
 * itself reported a failure inside its stream.
 */
export type TapVerdict = 'open' | 'complete' | 'failed'

/**
 * Watches one stream go by: passes whole events on unchanged and remembers what accounting needs.
 */
export interface StreamTap {
  /**
   * Takes the bytes from `from` to `to`; all of them where these are absent.
   * @throws SseFrameTooLargeError when one event outgrows every plausible size.
   */
  push(chunk: Uint8Array, from?: number, to?: number): TapOutput
  readonly verdict: TapVerdict
  readonly usage: Usage | null
  /** Uses of the vendor's own tools that were seen so far; absent: the dialect tells of none. */
  readonly toolUses?: ToolUses
  /** The model that answers, as the upstream names it; absent: it does not. */
  readonly model?: string | undefined
  /** Bytes of text that were passed on since usage was last reported, or since the beginning. */
  readonly unreportedBytes: number
  /** No event was seen but the one that ends the answer; absent: the dialect tells of none. */
  readonly isEmpty?: boolean
  /** The upstream has closed cleanly: what of its bytes still has to go out. */
  end(): TapOutput
  /** After `end`: whether the answer may count as whole although its last event was not seen. */
  isWholeAtEnd(): boolean
  /**
   * The failure that the upstream reported in its very first event, while an HTTP status can still
   * tell it.
   */
  readonly reportedError: string | null
  /** What the upstream calls it (`kindOfFailure`); absent: it does not say. */
  readonly reportedKind?: string | undefined
  /** The events that tell the client, in its own dialect, that the stream broke. */
  encodeFailure(error: GatewayError): Uint8Array
}

/**
 * The members by which a request asks the provider itself to keep or to run something; no gateway
 * can do it instead.
 */
export interface HostedMembers {
  /** Of the top level. */
  readonly names: readonly string[]
  /** True if the provider keeps something under it for the next call. */
  isState(name: string): boolean
  /** In the words that clients of the dialect act upon. */
  refuse(name: string, message: string): GatewayError
}

/** A format that callers speak. */
export interface Dialect {
  readonly id: InboundDialectId
  readonly envelope: Envelope
  /** The headers that pass between its callers and upstreams. Absent: those of every dialect. */
  readonly headers?: HeaderLists
  /** A header that its clients send their key in when there is none in `authorization`. */
  readonly keyHeader?: string
  /** Its clients look here for the call's id, beside `x-request-id`. */
  readonly requestIdHeader?: string
  /** Reads and checks the top level. @throws GatewayError `invalid_request` naming the field. */
  accept(body: JsonObject): AcceptedRequest
  /** Absent where a gate's defaults mean nothing. */
  readonly readSpoken?: ReadSpoken
  /** Present where callers of this dialect can be served by upstreams that speak another one. */
  readonly inboundCodec?: InboundCodec
  readonly hosted?: HostedMembers
  /** Absent: its requests name nothing in a vendor's account. */
  readonly vendorIds?: VendorIds
  /**
   * A whole stream of a call that fails before its first event. Absent where nothing is streamed.
   */
  encodeFailedStream?(error: GatewayError): Uint8Array
  /**
   * Set where `rewrite` itself takes out of a conversation what another provider sealed; where not,
   * such a request is translated, even to its own dialect.
   */
  readonly opensSeals?: true
  /** The gateway's own answer when none of a gate's targets speaks this dialect. */
  answerLocally?(request: AcceptedRequest): JsonRecord
}

/** One that upstreams speak too, so that calls in it can pass byte for byte. */
export interface RelayedDialect extends Dialect {
  /** The bytes for an upstream of the same dialect: the caller's, but for what has to change. */
  rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest
  /** Usage from a whole (non-stream) answer; null when it reports none. */
  readUsage(answer: Readonly<Record<string, unknown>>): Usage | null
  /**
   * Uses of the vendor's own tools, from a whole answer. Absent: the dialect tells of none.
   * @returns undefined where these members do not tell: of an answer too large to hold there are few
   */
  readToolUses?(answer: Readonly<Record<string, unknown>>): ToolUses | undefined
  /** True if a whole answer is one in this dialect, and no error or something else with a 200. */
  isAnswer(answer: Readonly<Record<string, unknown>>): boolean
  /** True if a whole answer says of itself that it has failed; absent: none does. */
  hasFailed?(answer: Readonly<Record<string, unknown>>): boolean
  /**
   * True if a 400 says that sealed reasoning in the request is another upstream's, so that only
   * that one can go on.
   */
  refusesReasoning?(refusal: UpstreamErrorAnswer): boolean
  createTap(relay: { readonly hidesUsage: boolean }): StreamTap
}

export function isRelayed(dialect: Dialect): dialect is RelayedDialect {
  return 'rewrite' in dialect
}

/** @throws Error always: asking for it is a mistake of ours */
export function noStream(): StreamTap {
  throw new Error('this dialect has no streams')
}

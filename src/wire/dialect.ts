/**
 * The port of a wire format: what clients need to use it, and what relaying it byte for byte to an
 * upstream of the same format needs. Must not know providers, HTTP servers or the source of bytes.
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
 * The form of errors: `{error: {message, type, param, code}}` or `{error, message, details?}`
 * (interface-spec, Errors), or `{type: "error", error: {type, message}}` for clients of the
 * Messages API. `alt` is the flat form plus members that Mistral's clients parse.
 */
export type Envelope = 'nested' | 'flat' | 'alt' | 'messages'

/**
 * What the gateway must know of a request before it picks a target. The body itself stays bytes.
 */
export interface AcceptedRequest {
  readonly body: JsonObject
  readonly gateId: string
  readonly stream: boolean
  /** Members of the body without effect, for `x-gatehouse-ignored`. */
  readonly ignored: readonly string[]
  /** The gate's own decisions, which are not in the body; undefined for a gate without defaults. */
  readonly defaults?: GateDefaults
}

/** The facts about a target that decide how its requests are edited. */
export interface RelayTarget {
  /** The model's name at the upstream. */
  readonly model: string
  readonly isReasoningModel: boolean
  /** The upstream reports a stream's usage only on request (`stream_options.include_usage`). */
  readonly countsStreamsOnRequest: boolean
  /** Set when the path names the model: the body contains these members instead. */
  readonly insteadOfModel?: Readonly<Record<string, string>> | undefined
  readonly traits: ModelTraits
  /** The model accepts an effort, as far as the provider's data says. */
  readonly takesEffort: boolean
  /**
   * The origin of the seals that it can read (wire/chat-request.ts, `Seal`). Undefined: its
   * dialect's own only.
   */
  readonly sealOrigin?: string
  /** Refuses a conversation with thinking that it has not signed itself. */
  readonly checksSignatures?: boolean | undefined
  /** Undefined: it supports all features of its dialect. */
  readonly features?: PlatformFeatures | undefined
}

export interface RelayRequest {
  readonly body: EditedBytes
  /**
   * Set when the body asks for usage that the client did not ask for, so the answer is shown
   * without it.
   */
  readonly hidesUsage: boolean
  /** The gate's defaults that this model does not support, in the caller's spelling. */
  readonly ignored?: readonly string[] | undefined
  /**
   * The caller's members that this target does not support; a strict caller is refused for them.
   */
  readonly leftOut?: readonly string[] | undefined
}

/**
 * The result of a chunk from the upstream: exact bytes for the client as one character each, `held`
 * after `now`. Text is cheaper to read, cut and join.
 */
export interface TapOutput {
  readonly now: string
  /** The event that ends the answer, and what follows: waits until the call is in the ledger. */
  readonly held: string
}

/**
 * `open`: more has to arrive. `complete`: the answer's last event was seen. `failed`: the upstream
 * reported a failure in its stream.
 */
export type TapVerdict = 'open' | 'complete' | 'failed'

/** Observes one stream: passes whole events on unchanged and records what accounting needs. */
export interface StreamTap {
  /**
   * Processes the bytes from `from` to `to`, by default all.
   * @throws SseFrameTooLargeError when one event exceeds the size limit
   */
  push(chunk: Uint8Array, from?: number, to?: number): TapOutput
  readonly verdict: TapVerdict
  readonly usage: Usage | null
  /** Seen uses of the provider's own tools; undefined: the dialect does not report them. */
  readonly toolUses?: ToolUses
  /** The model that answers, by its name at the upstream. Undefined: not reported. */
  readonly model?: string | undefined
  /** Bytes of text passed on since the last usage report, or since the beginning. */
  readonly unreportedBytes: number
  /** Only the final event was seen; undefined: the dialect does not tell. */
  readonly isEmpty?: boolean
  /** The upstream has closed cleanly: returns the bytes that still have to be sent. */
  end(): TapOutput
  /** After `end`: whether the answer counts as complete although its last event was not seen. */
  isWholeAtEnd(): boolean
  /**
   * The failure that the upstream reported in its first event, while an HTTP status can still
   * report it.
   */
  readonly reportedError: string | null
  /** The upstream's name of it (`kindOfFailure`); undefined: none. */
  readonly reportedKind?: string | undefined
  /** The events that report a broken stream in the client's own dialect. */
  encodeFailure(error: GatewayError): Uint8Array
}

/**
 * Members by which a request asks the provider itself to store or run something, which a gateway
 * cannot do instead.
 */
export interface HostedMembers {
  /** Top-level members. */
  readonly names: readonly string[]
  /** True if the provider stores something under it for the next call. */
  isState(name: string): boolean
  /** With words that clients of the dialect react to. */
  refuse(name: string, message: string): GatewayError
}

/** A format that callers use. */
export interface Dialect {
  readonly id: InboundDialectId
  readonly envelope: Envelope
  /**
   * Headers that are forwarded between its callers and upstreams. Undefined: those of every
   * dialect.
   */
  readonly headers?: HeaderLists
  /** A header in which its clients send their key instead of `authorization`. */
  readonly keyHeader?: string
  /** Its clients look here for the call's id, besides `x-request-id`. */
  readonly requestIdHeader?: string
  /** Reads and checks the top level. @throws GatewayError `invalid_request` naming the field. */
  accept(body: JsonObject): AcceptedRequest
  /** Undefined when a gate's defaults do not apply. */
  readonly readSpoken?: ReadSpoken
  /** Present when callers of this dialect can be served by upstreams of another one. */
  readonly inboundCodec?: InboundCodec
  readonly hosted?: HostedMembers
  /** Undefined: its requests cannot name objects in a provider's account. */
  readonly vendorIds?: VendorIds
  /**
   * The whole stream of a call that fails before its first event. Undefined when nothing is
   * streamed.
   */
  encodeFailedStream?(error: GatewayError): Uint8Array
  /**
   * Set when `rewrite` itself removes other providers' seals; otherwise such a request is
   * translated, even to its own dialect.
   */
  readonly opensSeals?: true
  /** The gateway's own answer when none of a gate's targets supports this dialect. */
  answerLocally?(request: AcceptedRequest): JsonRecord
}

/** A format that upstreams use too, so that calls can be relayed byte for byte. */
export interface RelayedDialect extends Dialect {
  /** The bytes for an upstream of the same dialect: the caller's, with the necessary edits. */
  rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest
  /** Usage of a complete (non-stream) answer; null when unreported. */
  readUsage(answer: Readonly<Record<string, unknown>>): Usage | null
  /**
   * Uses of the provider's own tools in a complete answer. Undefined: the dialect does not report
   * them.
   * @returns undefined when these members do not tell; only few are known of an answer too large to
   * buffer
   */
  readToolUses?(answer: Readonly<Record<string, unknown>>): ToolUses | undefined
  /**
   * True if a complete answer is one in this dialect, and not an error or something else with
   * status 200.
   */
  isAnswer(answer: Readonly<Record<string, unknown>>): boolean
  /** True if a complete answer reports its own failure; undefined: none does. */
  hasFailed?(answer: Readonly<Record<string, unknown>>): boolean
  /**
   * True if a 400 says that sealed reasoning in the request belongs to another upstream, which
   * alone can continue.
   */
  refusesReasoning?(refusal: UpstreamErrorAnswer): boolean
  createTap(relay: { readonly hidesUsage: boolean }): StreamTap
}

export function isRelayed(dialect: Dialect): dialect is RelayedDialect {
  return 'rewrite' in dialect
}

/** @throws Error always: calling it is a bug */
export function noStream(): StreamTap {
  throw new Error('this dialect has no streams')
}

/**
 * The port of a wire format: serving clients, and relaying calls byte for byte to an upstream of
 * the same format.
 */
import type { ToolUses } from '../core/cost.ts'
import type { InboundDialectId } from '../core/dialects.ts'
import type { EditedBytes } from '../core/edited-bytes.ts'
import type { GatewayError } from '../core/errors.ts'
import type { GateDefaults } from '../core/gate.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerFacts } from './answer-facts.ts'
import type { PlatformFeatures } from './bridge-features.ts'
import type { JsonRecord } from './chat-request.ts'
import type { InboundCodec, ModelTraits } from './codec.ts'
import type { ReadExplicit } from './gate-defaults.ts'
import type { HeaderLists } from './header-lists.ts'
import type { JsonObject } from './json-splice.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'
import type { VendorIds } from './vendor-ids.ts'

/**
 * Errors as `{error: {message, type, param, code}}` (`nested`), `{error, message, details?}`
 * (`flat`), `{type: "error", error: {type, message}}` (`messages`). `alt` is `flat` plus members
 * that Mistral's clients parse.
 */
export type Envelope = 'nested' | 'flat' | 'alt' | 'messages'

/** Facts of a request before a target is picked. The body itself stays bytes. */
export interface AcceptedRequest {
  readonly body: JsonObject
  readonly gateId: string
  readonly stream: boolean
  /** Members of the body without effect, for `x-gatehouse-ignored`. */
  readonly ignored: readonly string[]
  /** The gate's own decisions, which are not in the body. Undefined: the gate has no defaults. */
  readonly defaults?: GateDefaults
  /** The gate treats `store: true` of Chat Completions as false. */
  readonly ignoresStore?: boolean
}

export interface RelayTarget {
  readonly model: string
  readonly isReasoningModel: boolean
  /** The upstream reports a stream's usage only on request (`stream_options.include_usage`). */
  readonly countsStreamsOnRequest: boolean
  /** Set when the path names the model: the body contains these members instead. */
  readonly insteadOfModel?: Readonly<Record<string, string>> | undefined
  readonly traits: ModelTraits
  /** True when the provider's data says that the model accepts an effort. */
  readonly takesEffort: boolean
  /**
   * The origin of readable seals (`Seal` in wire/chat-request.ts). Undefined: the dialect's own
   * only.
   */
  readonly sealOrigin?: string
  readonly checksSignatures?: boolean | undefined
  readonly features?: PlatformFeatures | undefined
}

export interface RelayRequest {
  readonly body: EditedBytes
  /**
   * Set when the gateway asked for usage and the client did not, so usage is removed from the
   * answer.
   */
  readonly hidesUsage: boolean
  /** The gate's defaults that this model does not support, in the caller's spelling. */
  readonly ignored?: readonly string[] | undefined
  /** The caller's members that this target does not support; a strict caller is refused. */
  readonly leftOut?: readonly string[] | undefined
}

/** Exact bytes for the client, as one character each, because text is cheaper to cut and join. */
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
export interface StreamTap extends AnswerFacts {
  /**
   * Processes the bytes from `from` to `to`, by default all.
   * @throws SseFrameTooLargeError when one event exceeds the size limit
   */
  push(chunk: Uint8Array, from?: number, to?: number): TapOutput
  readonly verdict: TapVerdict
  readonly usage: Usage | null
  /** Undefined: the dialect does not report uses of the provider's tools. */
  readonly toolUses?: ToolUses
  /** Bytes of text passed on since the last usage report, or since the beginning. */
  readonly unreportedBytes: number
  /** Only the final event was seen. Undefined: the dialect cannot know. */
  readonly isEmpty?: boolean
  /** The upstream has closed cleanly: returns the bytes that still have to be sent. */
  end(): TapOutput
  /** Called after `end`: true when the answer counts as complete without its last event. */
  isWholeAtEnd(): boolean
  /** A failure in the upstream's first event, while an HTTP status can still report it. */
  readonly reportedError: string | null
  /** The upstream's name of the failure (`kindOfFailure`). */
  readonly reportedKind?: string | undefined
  /** The events that report a broken stream in the client's own dialect. */
  encodeFailure(error: GatewayError): Uint8Array
}

/**
 * Members by which a request asks the provider itself to store or run something. A gateway cannot
 * replace the provider here.
 */
export interface HostedMembers {
  readonly names: readonly string[]
  /** True if the provider stores state under the member for the next call. */
  isState(name: string): boolean
  /** Uses words that clients of the dialect react to. */
  refuse(name: string, message: string): GatewayError
}

/** Headers about the limit in money that applies to a call. */
export interface SpendHeaders {
  ofAnswer(state: SpendState): Record<string, string>
  /** @param state undefined: the used-up limit is not in money, or its use is hidden */
  ofRefusal(state: SpendState | undefined): Record<string, string>
}

export interface SentHeaders {
  get(name: string): string | null
}

export interface Dialect {
  readonly id: InboundDialectId
  readonly envelope: Envelope
  /**
   * Headers that are forwarded between callers and upstreams. Undefined: those of every dialect.
   */
  readonly headers?: HeaderLists
  readonly keyHeader?: string
  /** The header in which clients look for the call's id, besides `x-request-id`. */
  readonly requestIdHeader?: string
  /** Undefined: the dialect's clients show no limits in money. */
  readonly spendHeaders?: SpendHeaders
  /** The error as the client shows it. Undefined: clients of the dialect do not differ. */
  toShownError?(error: GatewayError, headers: SentHeaders): GatewayError
  /**
   * Reads and checks the top level.
   * @throws GatewayError `invalid_request` naming the field.
   */
  accept(body: JsonObject): AcceptedRequest
  /** Undefined when a gate's defaults do not apply. */
  readonly readExplicit?: ReadExplicit
  /** Present when callers of this dialect can be served by upstreams of another dialect. */
  readonly inboundCodec?: InboundCodec
  readonly hosted?: HostedMembers
  /** Undefined: requests cannot name objects in a provider's account. */
  readonly vendorIds?: VendorIds
  /**
   * The whole stream of a call that fails before its first event. Undefined: the dialect has no
   * streams.
   */
  encodeFailedStream?(error: GatewayError): Uint8Array
  /**
   * Set when `rewrite` itself removes other providers' seals. Otherwise such a request is
   * translated, even to its own dialect.
   */
  readonly opensSeals?: true
  /** The gateway's own answer when no target of a gate supports this dialect. */
  answerLocally?(request: AcceptedRequest): JsonRecord
}

/** A format that upstreams use too, so calls can be relayed byte for byte. */
export interface RelayedDialect extends Dialect {
  rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest
  readUsage(answer: Readonly<Record<string, unknown>>): Usage | null
  /**
   * Uses of the provider's own tools in a complete answer. Undefined: the dialect does not report
   * uses.
   * @returns undefined when the members do not show uses: of an answer too large to buffer, only
   * few members are known
   */
  readToolUses?(answer: Readonly<Record<string, unknown>>): ToolUses | undefined
  /** True if the JSON is an answer in this dialect, and not an error with status 200. */
  isAnswer(answer: Readonly<Record<string, unknown>>): boolean
  hasFailed?(answer: Readonly<Record<string, unknown>>): boolean
  /**
   * True if a 400 means that another upstream sealed the reasoning in the request. Only that upstream
   * can continue the conversation.
   */
  refusesReasoning?(refusal: UpstreamErrorAnswer): boolean
  createTap(relay: { readonly hidesUsage: boolean }): StreamTap
}

export function isRelayed(dialect: Dialect): dialect is RelayedDialect {
  return 'rewrite' in dialect
}

export function noStream(): StreamTap {
  throw new Error('this dialect has no streams')
}

/**
 * The port for logs, metrics and traces. Observers get no body, no key, and no header except W3C
 * trace context. Observers return immediately and never throw.
 */

import type { AttemptFailure, CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { HeaderFields } from '../net/fields.ts'
import type { AnswerFacts } from '../wire/answer-facts.ts'

export interface CallObserver {
  /**
   * Followed by exactly one `finish` or `refuse`. Returns undefined when the call is not traced.
   */
  begin(headers: HeaderFields): CallTrace | undefined
  finish(record: CallRecord, attempts: readonly AttemptRecord[], trace: CallTrace | undefined): void
  refuse(refusal: Refusal, trace: CallTrace | undefined): void
}

export interface Refusal {
  readonly id: CallId
  readonly dialect: string
  readonly keyId: KeyId | null
  readonly kind: ErrorKind
  readonly status: number
  /** Undefined for a failure of the gateway itself. */
  readonly refusalCode: string | undefined
  /** The limit that refused the call, as `GatewayError.limit`. */
  readonly refusedBy: string | undefined
  readonly startedAt: number
  readonly durationMs: number
}

export interface CallTrace {
  readonly traceId: string
  beginAttempt(): AttemptTrace
}

/** W3C trace context: https://www.w3.org/TR/trace-context/ */
export interface AttemptTrace {
  readonly spanId: string
  /** `traceparent`, and `tracestate` if the caller sent a valid one. */
  readonly headers: Readonly<Record<string, string>>
}

export interface AttemptRecord {
  readonly target: string
  /** Milliseconds on the clock's `elapsed` scale, as in `failedAt`. */
  readonly begunAt: number
  status: number | null
  /** Null while the attempt is running or has succeeded. */
  failedAt: number | null
  ownedPrices: DeclaredPrices | undefined
  isPlatforms: boolean
  isTranslated: boolean
  /**
   * True when the model may write before the first visible event: in a complete answer, or during
   * reasoning.
   */
  writesUnseen: boolean
  /** Null unless the attempt itself failed. */
  failure: AttemptFailure | null
  /** True when the request was sent, so the upstream may charge for the attempt. */
  isSent: boolean
  /** The gateway ended the attempt before an answer, although the upstream had not failed. */
  isGivenUp: boolean
  /**
   * The upstream was silent for too long after the request was sent, so it may charge for the
   * request.
   */
  hasTimedOut: boolean
  /** The request member that the upstream's 400 or 422 names; `other`: an unusual member. */
  refusedMember?: string
  /** Undefined: the attempt brought no answer, or the call is not traced and no stream. */
  answer?: AnswerFacts
  readonly trace: AttemptTrace | undefined
}

/**
 * The port for logs, metrics and traces of calls. Observers never get a body, a key, or a header
 * other than W3C's trace context. They return immediately and never throw.
 */

import type { AttemptFailure, CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { HeaderFields } from '../net/fields.ts'

export interface CallObserver {
  /**
   * A call has arrived; exactly one `finish` or `refuse` follows. @returns its trace; undefined:
   * not traced
   */
  begin(headers: HeaderFields): CallTrace | undefined
  /** An admitted call has ended. */
  finish(record: CallRecord, attempts: readonly AttemptRecord[], trace: CallTrace | undefined): void
  /** A call was refused before it was admitted; `finish` is not called for it. */
  refuse(refusal: Refusal, trace: CallTrace | undefined): void
}

export interface Refusal {
  readonly id: CallId
  readonly dialect: string
  /** Null when the caller is unknown. */
  readonly keyId: KeyId | null
  readonly kind: ErrorKind
  readonly status: number
  /** Undefined: not a refusal but a failure of the gateway. */
  readonly refusalCode: string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly durationMs: number
}

/** https://www.w3.org/TR/trace-context/ */
export interface CallTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  beginAttempt(): AttemptTrace
}

/** Headers that link the upstream's work to the trace (https://www.w3.org/TR/trace-context/). */
export interface AttemptTrace {
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** `traceparent`, and `tracestate` if the caller sent a valid one. */
  readonly headers: Readonly<Record<string, string>>
}

export interface AttemptRecord {
  /** `provider/model`. */
  readonly target: string
  /** On the clock's `elapsed` scale, as is `failedAt`. */
  readonly askedAt: number
  /** Null until an answer. */
  status: number | null
  /** Null unless it failed or was given up. */
  failedAt: number | null
  /** An owned model's prices at the time of the attempt. */
  ownedPrices: DeclaredPrices | undefined
  /** Whether the platform pays for it. */
  isPlatforms: boolean
  /** Whether the request was translated; providers' tools are lost in translation. */
  isTranslated: boolean
  /**
   * Whether the model may write a lot before anything is visible: a complete answer, or reasoning
   * before the first text of a stream.
   */
  writesUnseen: boolean
  /** Null unless the attempt itself failed. */
  failure: AttemptFailure | null
  /** Whether the request was sent; from then on the upstream may charge for it. */
  isSent: boolean
  /** The gateway ended it before an answer began, without a failure of the upstream. */
  isGivenUp: boolean
  /**
   * The upstream was silent for too long after the request was sent, so it may have read the
   * request and charge for it.
   */
  hasTimedOut: boolean
  /** Undefined: the call is not traced. */
  readonly trace: AttemptTrace | undefined
}

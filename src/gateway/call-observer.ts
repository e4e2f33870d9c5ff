/**
 * The port for logs, metrics and traces: they learn of each call, but never a body, a key, or a
 * header other than W3C's trace context. An observer returns at once and never throws.
 */

import type { AttemptFailure, CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { HeaderFields } from '../net/fields.ts'

export interface CallObserver {
  /**
   * A call has come in; `finish` or `refuse` follows, once. @returns how it is traced; undefined:
   * it is not
   */
  begin(headers: HeaderFields): CallTrace | undefined
  /** An admitted call is over. */
  finish(record: CallRecord, attempts: readonly AttemptRecord[], trace: CallTrace | undefined): void
  /** A call was turned away before it was admitted: it is no call that is finished. */
  refuse(refusal: Refusal, trace: CallTrace | undefined): void
}

export interface Refusal {
  readonly id: CallId
  readonly dialect: string
  /** Null when it is not known who called. */
  readonly keyId: KeyId | null
  readonly kind: ErrorKind
  readonly status: number
  /** Undefined: the gateway failed, and refused nothing. */
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

/**
 * The headers that name an upstream the trace it works in (https://www.w3.org/TR/trace-context/).
 */
export interface AttemptTrace {
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** `traceparent`, and `tracestate` where the caller sent one that counts. */
  readonly headers: Readonly<Record<string, string>>
}

export interface AttemptRecord {
  /** `provider/model`. */
  readonly target: string
  /** On the clock's `elapsed` scale, as is `failedAt`. */
  readonly askedAt: number
  /** Null until it has answered with one. */
  status: number | null
  /** Null unless it failed or was given up. */
  failedAt: number | null
  /** Those of an owned model at that moment. */
  ownedPrices: DeclaredPrices | undefined
  /** Whether the platform pays for it. */
  isPlatforms: boolean
  /** Whether it was asked in another dialect than the caller's, where no tool of a vendor's goes. */
  isTranslated: boolean
  /**
   * Whether the model may write for long without any of it being seen: a whole answer, or reasoning
   * before the first text of a stream.
   */
  writesUnseen: boolean
  /** Null unless it failed by itself. */
  failure: AttemptFailure | null
  /** Whether the request went out: from then on the upstream may charge for it. */
  isSent: boolean
  /**
   * The gateway itself ended it, before an answer had begun and without a failure of the
   * upstream's.
   */
  isGivenUp: boolean
  /**
   * The upstream was silent for longer than it may be, after the request went out and without
   * refusing it: it may have read the request, and charge for it.
   */
  hasTimedOut: boolean
  /** Undefined: the call is not traced. */
  readonly trace: AttemptTrace | undefined
}

/**
 * What may be told of each call to those who watch: never a body, a key, or a header other than
 * W3C's trace context. Whoever observes returns at once and never throws.
 */
import type { CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import type { AttemptRecord, AttemptTrace } from './attempt/attempt-record.ts'

export interface CallObserver {
  /**
   * A call has come in; `finish` or `refuse` follows, once. @returns how it is traced; undefined:
   * it is not
   */
  begin(headers: Headers): CallTrace | undefined
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

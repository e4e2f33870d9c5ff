/** The port of the HTTP client: one exchange for each request to an upstream. */

import type { EditedBytes } from '../core/edited-bytes.ts'
import type { AnswerHead } from './answer-parser.ts'
import type { WaitingCall } from './deadlines.ts'
import type { CommonHeaders } from './headers.ts'
import type { LeaveSignal } from './messages.ts'

/** In milliseconds; `totalMs` counts from the start of an exchange. */
export interface ExchangeTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export interface ExchangeRequest {
  readonly url: string
  /** The addresses that may be connected to, best first; undefined: any address of the host. */
  readonly addresses?: readonly string[] | undefined
  readonly group: string
  /** Headers shared by all requests to the same target, if any. */
  readonly common?: CommonHeaders | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: EditedBytes
  readonly timeouts: Omit<ExchangeTimeouts, 'totalMs'>
  readonly totalMs: number
  /** Aborts when the answer is no longer needed. */
  readonly signal: LeaveSignal
  /** For `Deadlines.revoke`. */
  readonly owner?: WaitingCall | undefined
}

export type TakePiece = (piece: Uint8Array) => boolean

/** Takes `bytes[from..to)`, which no other code reads or modifies. */
export type TakePart = (bytes: Uint8Array, from: number, to: number) => boolean

/** Closing or aborting an exchange closes its connection immediately. */
export interface Exchange {
  /** True when the request was sent over an established connection. */
  readonly isSent: boolean
  readonly isReadOut: boolean
  /**
   * Sends the request and waits for the answer's head.
   * @throws UpstreamFailure
   */
  send(): Promise<AnswerHead>
  /**
   * The next piece of the body, undefined at its clean end.
   * @throws UpstreamFailure
   */
  read(): Promise<Uint8Array | undefined>
  /**
   * Passes pieces of the body to `take` until it returns false; then the upstream has to wait.
   * @returns true when more may follow; false after the clean end
   * @throws UpstreamFailure, and the errors of `take`
   */
  readWhile(take: TakePiece): Promise<boolean>
  /** Like `readWhile`, without views: creating a view costs more than reading a typical piece. */
  readPartsWhile(take: TakePart): Promise<boolean>
  /**
   * Reads the whole body, without a promise when all of it arrived with the head.
   * @throws UpstreamFailure (rejects)
   */
  readAll(): Uint8Array | Promise<Uint8Array>
  /** Shortens the wait for the rest, in milliseconds, once all that matters was read. */
  expectEndWithin(ms: number): void
  /** Delays cancellation: an abort of the signal takes effect this many milliseconds later. */
  outliveSignal(ms: number): void
  /** Cancels the exchange after this many milliseconds unless the answer is complete by then. */
  cancelWithin(ms: number): void
  /** Closes the connection unless the whole answer was read. Idempotent. */
  close(): void
}

export interface Upstream {
  /** Starts the exchange's total time. Sends nothing before `send`. */
  open(request: ExchangeRequest): Exchange
}

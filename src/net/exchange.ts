/**
 * The port of an HTTP client: exchanges with upstreams, one for each request that goes out. It must
 * not know the client behind it, nor any LLM.
 */

import type { EditedBytes } from '../core/edited-bytes.ts'
import type { AnswerHead } from './answer-parser.ts'
import type { CommonHeaders } from './headers.ts'
import type { LeaveSignal } from './messages.ts'

/** Milliseconds each; `totalMs` counts from the start of an exchange. */
export interface ExchangeTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export interface ExchangeRequest {
  readonly url: string
  /**
   * The addresses of its host that may be connected to, best first; undefined: wherever its name
   * leads.
   */
  readonly addresses?: readonly string[] | undefined
  /** With which others its connections are counted. */
  readonly group: string
  /** The headers that all requests to its place share; absent: none. */
  readonly common?: CommonHeaders | undefined
  /** Its own. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: EditedBytes
  /** Others may have the same. */
  readonly timeouts: Omit<ExchangeTimeouts, 'totalMs'>
  /** The time for the whole exchange, in milliseconds. */
  readonly totalMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: LeaveSignal
  /**
   * The key of the call, for `Deadlines.revoke`; undefined: no key that could be deleted is behind
   * it.
   */
  readonly owner?: string | undefined
}

export type TakePiece = (piece: Uint8Array) => boolean

/** The piece is what lies from `from` to `to`; nobody else reads or writes these bytes. */
export type TakePart = (bytes: Uint8Array, from: number, to: number) => boolean

/** Closing or aborting it closes the connection at once. */
export interface Exchange {
  /** Whether the request went out to an upstream that took the connection. */
  readonly isSent: boolean
  /** The whole answer has come, and all of it was read. */
  readonly isReadOut: boolean
  /** Sends the request and waits for the answer's head. @throws UpstreamFailure */
  send(): Promise<AnswerHead>
  /** The next piece of the body, undefined at its clean end. @throws UpstreamFailure */
  read(): Promise<Uint8Array | undefined>
  /**
   * Hands over the body's pieces, each in the turn in which it comes, for as long as `take` says
   * that it takes the next one too. Otherwise the upstream has to wait.
   * @returns whether there may be more: not after the clean end @throws UpstreamFailure, and what
   * `take` throws
   */
  readWhile(take: TakePiece): Promise<boolean>
  /** The same for those who keep no piece: a view of it costs more than reading most of them. */
  readPartsWhile(take: TakePart): Promise<boolean>
  /**
   * The whole body at once: the fast way for answers known to be small. No promise where all of it
   * came with the head. @throws UpstreamFailure (rejects)
   */
  readAll(): Uint8Array | Promise<Uint8Array>
  /** Shortens the wait for more bytes, in milliseconds, when all that matters has been read. */
  expectEndWithin(ms: number): void
  /** When its signal aborts from here on, it is cancelled so many milliseconds after. */
  outliveSignal(ms: number): void
  /** Fails as cancelled in so many milliseconds, unless the whole answer has come by then. */
  cancelWithin(ms: number): void
  /**
   * Ends the exchange. The connection is closed unless the whole answer was read. Safe to call
   * again.
   */
  close(): void
}

export interface Upstream {
  /** Nothing is sent before `send`, and the exchange's time begins now. */
  open(request: ExchangeRequest): Exchange
}

/**
 * A request as its handlers see it, that its client has left, and an answer that is whole. The
 * web's own `Request`, `AbortSignal` and `Response` fit too. Knows no connection and no LLM.
 */

import type { HeaderFields } from './fields.ts'
import { type HeadLines, HeadWriter } from './head-writer.ts'

/**
 * Tells that nobody waits for an answer any more: the part of the web's `AbortSignal` that waiting
 * needs. One of the web's own costs as much as reading a small request.
 */
export interface LeaveSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', run: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', run: () => void): void
}

export class Leaving implements LeaveSignal {
  aborted = false
  #listeners: (() => void)[] | undefined

  addEventListener(_type: 'abort', run: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(run)
  }

  removeEventListener(_type: 'abort', run: () => void): void {
    this.#listeners = this.#listeners?.filter((listener) => listener !== run)
  }

  /** Safe to call again. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const run of this.#listeners ?? []) run()
    this.#listeners = undefined
  }
}

/** The part of the web's `Request` that handlers need. */
export interface HttpRequest {
  readonly method: string
  /** Absolute, but for a request whose `Host` is absent or unusable: then it begins with its path. */
  readonly url: string
  readonly headers: HeaderFields
  /** Aborts when its client leaves. */
  readonly signal: LeaveSignal
  /** Null: it has none. */
  readonly body: ReadableStream<Uint8Array> | null
  /** The whole body. */
  bytes(): Promise<Uint8Array>
  /** The same where all of it is there already; undefined where it is not, and nothing is read. */
  takeBytes?(): Uint8Array | undefined
  /** The same as the web's own; it then has the body. */
  toRequest?(): Request
}

export function toRequest(request: HttpRequest): Request {
  return request.toRequest?.() ?? (request as Request)
}

/**
 * Its head is text already: to build the runtime's own `Response` with its headers costs more than
 * to send it.
 */
export class WholeAnswer {
  readonly status: number
  /** Header lines, each with its CRLF, without a length and in Latin-1. */
  readonly lines: string
  readonly body: Uint8Array
  /** The lines that follow. */
  readonly more: HeadLines | undefined

  constructor(status: number, lines: string, body: Uint8Array, more?: HeadLines) {
    this.status = status
    this.lines = lines
    this.body = body
    this.more = more
  }

  toResponse(): Response {
    const headers = toHeaders(this)
    return new Response(this.body as Uint8Array<ArrayBuffer>, { status: this.status, headers })
  }
}

/** @throws Error for a value that could hold a whole message of its own */
export function toHeaders({ lines, more }: Pick<WholeAnswer, 'lines' | 'more'>): Headers {
  const head = new HeadWriter(Buffer.allocUnsafe(LONGEST_HEAD_BYTES), 0)
  head.begin(lines)
  more?.writeTo(head)
  const headers = new Headers()
  for (const line of head.toString().split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(': ')
    headers.append(line.slice(0, colon), line.slice(colon + 2))
  }
  return headers
}

/** Any answer whose head is text already, whole or in pieces. */
export type HeadedAnswer = Pick<WholeAnswer, 'status' | 'lines' | 'more' | 'toResponse'>

export type Answer = Response | HeadedAnswer

export function toResponse(answer: Answer): Response {
  return answer instanceof Response ? answer : answer.toResponse()
}

/** Twice of what an upstream's may have. */
const LONGEST_HEAD_BYTES = 128 * 1024

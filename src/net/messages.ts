/**
 * Requests as handlers see them, the signal that a client left, and complete answers. The web's own
 * `Request`, `AbortSignal` and `Response` are compatible.
 */

import type { HeaderFields } from './fields.ts'
import { type HeadLines, HeadWriter } from './head-writer.ts'

/**
 * Aborts when the answer is no longer needed. The web's `AbortSignal` costs as much as reading a
 * small request, so this is a subset.
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

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const run of this.#listeners ?? []) run()
    this.#listeners = undefined
  }
}

export interface HttpRequest {
  readonly method: string
  /** Absolute; only the path when `Host` is missing or unusable. */
  readonly url: string
  readonly headers: HeaderFields
  readonly signal: LeaveSignal
  readonly body: ReadableStream<Uint8Array> | null
  bytes(): Promise<Uint8Array>
  /** Undefined while the body is incomplete. */
  takeBytes?(): Uint8Array | undefined
  /** Converts to the web's `Request`, which then owns the body. */
  toRequest?(): Request
}

export function toRequest(request: HttpRequest): Request {
  return request.toRequest?.() ?? (request as Request)
}

/**
 * An answer whose head is text already: building the runtime's `Response` costs more than sending
 * the head.
 */
export class WholeAnswer {
  readonly status: number
  /** Header lines, each with its CRLF, without a length, in Latin-1. */
  readonly lines: string
  readonly body: Uint8Array
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

/** @throws Error for a value that could inject another message */
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

export type HeadedAnswer = Pick<WholeAnswer, 'status' | 'lines' | 'more' | 'toResponse'>

export type Answer = Response | HeadedAnswer

export function toResponse(answer: Answer): Response {
  return answer instanceof Response ? answer : answer.toResponse()
}

/** Maximum length of an answer's head for a client: twice the limit of an upstream's head. */
const LONGEST_HEAD_BYTES = 128 * 1024

/** A client's request as handlers see it. The body may still arrive while handlers work. */

import { bodyMemory, LARGE_BODY_BYTES } from './body-memory.ts'
import type { FieldLines } from './fields.ts'
import { type HttpRequest, type LeaveSignal, Leaving } from './messages.ts'
import type { RequestHead } from './request-parser.ts'

export interface RequestSource {
  readonly remoteAddress: string | undefined
  /** Sends `100 Continue`, because a client may wait for it before the body. */
  sendContinue(): void
  pause(): void
  resume(): void
}

/** Unread bytes of a body that are buffered before the client has to wait. */
const MAX_UNREAD_BYTES = 256 * 1024

type Body = 'unread' | 'collected' | 'streamed' | 'dropped'

/** The request is also its own abort signal, so that each request allocates one object. */
export class ClientRequest extends Leaving implements HttpRequest {
  readonly head: RequestHead
  readonly #source: RequestSource
  #use: Body = 'unread'
  #pieces: Uint8Array[] = NO_PIECES
  #waitingBytes = 0
  #isWhole = false
  #isCopied = false
  #isWanted = false
  #lost: Error | undefined
  #collected: PromiseWithResolvers<Uint8Array> | undefined
  #room: Buffer | undefined
  #filled = 0
  #stream: ReadableStream<Uint8Array> | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(head: RequestHead, source: RequestSource) {
    super()
    this.head = head
    this.#source = source
  }

  get signal(): LeaveSignal {
    return this
  }

  get method(): string {
    return this.head.method
  }

  get url(): string {
    return this.head.url
  }

  get headers(): FieldLines {
    return this.head.headers
  }

  get remoteAddress(): string | undefined {
    return this.#source.remoteAddress
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The pieces were copied together, so no other object holds their memory. */
  get isCopied(): boolean {
    return this.#isCopied
  }

  takeBytes(): Uint8Array | undefined {
    if (!this.#isWhole || this.#use !== 'unread') return undefined
    this.#use = 'collected'
    this.#makeRoom()
    return this.#takeAll()
  }

  bytes(): Promise<Uint8Array> {
    if (this.#use !== 'unread') return Promise.reject(new TypeError('The body was read before.'))
    if (this.#isWhole) return Promise.resolve(this.takeBytes() ?? NOTHING)
    this.#use = 'collected'
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    this.#collected = Promise.withResolvers()
    if (this.#waitingBytes > 0) this.#makeRoom()
    this.#want()
    return this.#collected.promise
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.head.bodyBytes === 0) return null
    this.#stream ??= this.#open()
    return this.#stream
  }

  toRequest(): Request {
    const { method, url, headers } = this.head
    const leaving = new AbortController()
    const leave = () => leaving.abort(this.#lost)
    if (this.aborted) leave()
    else this.addEventListener('abort', leave)
    const own = new Headers()
    headers.forEach((value, name) => {
      own.append(name, value)
    })
    const body = method === 'GET' || method === 'HEAD' ? null : this.body
    const address = url.startsWith('/') ? `http://localhost${url}` : url
    return new Request(address, { method, headers: own, body, signal: leaving.signal })
  }

  drop(): void {
    const cause = new Error('The request was answered before its body was read to its end.')
    if (this.#use === 'streamed') this.#controller?.error(cause)
    this.#collected?.reject(cause)
    this.#use = 'dropped'
    this.#pieces = NO_PIECES
    this.#waitingBytes = 0
    this.#room = undefined
    this.#source.resume()
  }

  onPiece(shared: Uint8Array): void {
    if (this.#use === 'dropped') return
    const piece = this.head.bodyBytes === undefined ? withoutRest(shared) : shared
    if (this.#use === 'streamed') {
      this.#controller?.enqueue(piece)
      if ((this.#controller?.desiredSize ?? 1) <= 0) this.#source.pause()
      return
    }
    if (this.#room !== undefined) {
      this.#room.set(piece, this.#filled)
      this.#filled += piece.byteLength
      return
    }
    if (this.#pieces === NO_PIECES) this.#pieces = [piece]
    else this.#pieces.push(piece)
    this.#waitingBytes += piece.byteLength
    if (this.#use === 'collected') this.#makeRoom()
  }

  /**
   * Pausing and resuming immediately costs six system calls, so the handler first gets a chance to
   * read the newest piece.
   */
  waitIfUnread(): void {
    if (this.#use === 'unread' && this.#waitingBytes >= MAX_UNREAD_BYTES) this.#source.pause()
  }

  onEnd(): void {
    this.#isWhole = true
    if (this.#use === 'streamed') this.#controller?.close()
    this.#collected?.resolve(this.#takeAll())
    this.#collected = undefined
  }

  onLeft(cause: Error): void {
    this.onLost(cause)
    this.abort()
  }

  onLost(cause: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = cause
    if (this.#isWhole) return
    this.#collected?.reject(cause)
    this.#collected = undefined
    if (this.#use === 'streamed') this.#controller?.error(cause)
  }

  #want(): void {
    const isFirst = !this.#isWanted
    this.#isWanted = true
    if (isFirst && this.head.awaitsContinue && this.#waitingBytes === 0) this.#source.sendContinue()
    this.#source.resume()
  }

  /**
   * Allocates memory for a body that is large or arrives in pieces. The reader has checked its
   * length.
   */
  #makeRoom(): void {
    const { bodyBytes } = this.head
    if (bodyBytes === undefined) return
    if (bodyBytes < LARGE_BODY_BYTES && this.#waitingBytes === bodyBytes) return
    this.#isCopied = true
    this.#room = bodyMemory.take(bodyBytes)
    for (const piece of this.#pieces) {
      this.#room.set(piece, this.#filled)
      this.#filled += piece.byteLength
    }
    this.#pieces = NO_PIECES
    this.#waitingBytes = 0
  }

  /** Returns the body once and keeps no reference, because the answer may take minutes. */
  #takeAll(): Uint8Array {
    const room = this.#room
    this.#room = undefined
    if (room !== undefined) return room
    const pieces = this.#pieces
    this.#pieces = NO_PIECES
    const [only] = pieces
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
  }

  #open(): ReadableStream<Uint8Array> {
    const isUnread = this.#use === 'unread'
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (!isUnread) throw new TypeError('The body was read before.')
          this.#use = 'streamed'
          this.#controller = controller
          for (const piece of this.#pieces) controller.enqueue(piece)
          this.#pieces = NO_PIECES
          if (this.#lost !== undefined && !this.#isWhole) controller.error(this.#lost)
          else if (this.#isWhole) controller.close()
        },
        pull: () => this.#want(),
        cancel: () => this.drop(),
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (piece) => piece?.byteLength ?? 0 },
    )
  }
}

const NOTHING = new Uint8Array(0)
/** Shared empty list; most bodies have at most one piece. Never modified. */
const NO_PIECES: Uint8Array[] = []

/** A small piece would retain its whole buffer, so the piece is copied. */
function withoutRest(piece: Uint8Array): Uint8Array {
  return piece.byteLength * 4 < piece.buffer.byteLength ? new Uint8Array(piece) : piece
}
